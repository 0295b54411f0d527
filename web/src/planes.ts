// Numbers as offline pages hold them: bytes of one place after those of another, each series as differences of its bits.

/** Series of equal length, one after another, as they were before they were packed. */
export function unpackedWords(bytes: Uint8Array, series: number): Uint32Array {
  const count = bytes.length / 4;
  const words = new Uint32Array(count);
  const length = count / series;
  for (let i = 0; i < count; i++) {
    const change = bytes[i] + (bytes[i + count] << 8) + (bytes[i + 2 * count] << 16) + bytes[i + 3 * count] * 2 ** 24;
    words[i] = i % length === 0 ? change : words[i - 1] + change;
  }
  return words;
}

export function unpackedLongs(bytes: Uint8Array, series: number): BigUint64Array {
  const count = bytes.length / 8;
  const longs = new BigUint64Array(count);
  const own = new Uint8Array(longs.buffer);
  for (let i = 0; i < count; i++) for (let b = 0; b < 8; b++) own[8 * i + b] = bytes[b * count + i];
  const length = count / series;
  for (let i = 0; i < count; i++) if (i % length !== 0) longs[i] += longs[i - 1];
  return longs;
}

/** Rows of so many numbers, from series one after another. */
export function asRows(words: Uint32Array, width: number): Float32Array {
  const rows = new Uint32Array(words.length);
  const length = words.length / width;
  for (let k = 0; k < width; k++) for (let i = 0; i < length; i++) rows[i * width + k] = words[k * length + i];
  return new Float32Array(rows.buffer);
}

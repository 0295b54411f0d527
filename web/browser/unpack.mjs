// node unpack.mjs FILE.br ...: writes FILE beside each, decompressed.
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";

for (const packed of process.argv.slice(2)) {
  const target = createWriteStream(packed.replace(/\.br$/, ""));
  await pipeline(createReadStream(packed), createBrotliDecompress(), target);
}

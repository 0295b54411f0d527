// Reading what the package put into the page, and asking a server for the rest.

import { type FetchFrames } from "./frames";
import { asRows, unpackedLongs, unpackedWords } from "./planes";
import { decodeTable, type Table } from "./series";
import { type Boot, type Meta } from "./types";

/** Something is wrong with the page's data; the message is for the reader. */
export class PayloadError extends Error {}

export function readBoot(): Boot {
  const text = document.getElementById("boot")?.textContent;
  if (!text) throw new PayloadError("This page holds no run. Open one with tautline, or save a run as a page of its own.");
  return checkedBoot(text);
}

export function checkedBoot(text: string): Boot {
  let boot: Boot;
  try {
    boot = JSON.parse(text) as Boot;
  } catch (problem) {
    throw new PayloadError(`The description of the run is not valid JSON: ${(problem as Error).message}.`);
  }
  if (!["replay", "offline", "live"].includes(boot.mode)) throw new PayloadError(`The page was made for an unknown mode “${boot.mode}”.`);
  if (!Array.isArray(boot.runs) || boot.runs.length < 1 || boot.runs.length > 4)
    throw new PayloadError(`The page shows one to four runs; it was given ${boot.runs?.length ?? "none"}.`);
  for (const meta of boot.runs) {
    if (!(meta.lines?.length >= 1)) throw new PayloadError(`“${meta.title}” has no lines; at least one is needed.`);
    if (boot.mode !== "live" && !(meta.samples >= 1)) throw new PayloadError(`“${meta.title}” holds no samples.`);
  }
  return boot;
}

export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function embedded(id: string): Promise<ArrayBuffer> {
  const element = document.getElementById(id);
  if (!element?.textContent) throw new PayloadError(`The page lacks the data “${id}”; it may have been cut off when it was saved.`);
  try {
    const bytes = bytesOfBase64(element.textContent);
    element.textContent = ""; // the text is as large as the run
    return await gunzip(bytes);
  } catch (problem) {
    throw new PayloadError(`The data “${id}” in this page cannot be read: ${(problem as Error).message}.`);
  }
}

export async function embeddedFrames(run: number, meta: Meta, frameSize: number): Promise<Float32Array> {
  const buffer = await embedded(`frames-${run}`);
  if (buffer.byteLength !== 4 * frameSize * meta.samples)
    throw new PayloadError(`The frames of “${meta.title}” take ${buffer.byteLength} bytes; ${4 * frameSize * meta.samples} were expected.`);
  return asRows(unpackedWords(new Uint8Array(buffer), frameSize), frameSize);
}

export async function embeddedTable(run: number, meta: Meta): Promise<Table> {
  const longs = unpackedLongs(new Uint8Array(await embedded(`plots-${run}`)), 1 + meta.series.length);
  return decodeTable(new Float64Array(longs.buffer), meta.series.length);
}

/** An address beside the page's own, so that it also works behind a proxy that puts a path in front. */
export function address(path: string, query: Record<string, string | number>): URL {
  const url = new URL(path, document.baseURI);
  url.search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  return url;
}

async function ask(path: string, query: Record<string, string | number>): Promise<ArrayBuffer> {
  const answer = await fetch(address(path, query));
  if (!answer.ok) throw new Error(`the server answered ${answer.status} to /${path}`);
  return answer.arrayBuffer();
}

export function remoteFrames(token: string, run: number): FetchFrames {
  return async (first, count, every) => new Float32Array(await ask("frames", { token, run, first, count, every }));
}

export type FetchTable = (from: number, to: number, points: number) => Promise<Table>;

export function remoteTable(token: string, run: number, meta: Meta): FetchTable {
  return async (from, to, points) => decodeTable(new Float64Array(await ask("plots", { token, run, from, to, points })), meta.series.length);
}

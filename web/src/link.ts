// The websocket to a running simulation: it is opened again whenever it closes.

import { address } from "./payload";
import { type Meta, type Status, type Vector } from "./types";

export type ReelCommand = { type: "lock" } | { type: "free" } | { type: "torque"; value: number } | { type: "speed"; value: number; held?: boolean } | { type: "length"; value: number; speed: number };

export type Command =
  | (ReelCommand & { line: string })
  | { type: "reset" } | { type: "rate"; value: number }
  | { type: "pause"; on: boolean } | { type: "record"; on: boolean }
  | { type: "impulse"; body: string; impulse: Vector }
  | { type: "pull"; body: string; to: Vector | null }
  | { type: "carry"; body: string; to: Vector | null } | { type: "alarm"; value: number | null }
  | { type: "steer"; body: string; velocity: Vector };

type Message =
  | { type: "hello"; meta: Meta; status: Status }
  | { type: "status"; status: Status }
  | { type: "ok"; id: number }
  | { type: "refused"; id: number; why: string };

export interface LinkEvents {
  hello(meta: Meta, status: Status): void;
  status(status: Status): void;
  state(numbers: Float64Array): void;
  refused(why: string): void;
  lost(): void;
  trouble(problem: Error): void;
}

const RETRY_FIRST = 400; // ms
const RETRY_LAST = 8000;

export class Link {
  connected = false;
  private socket: WebSocket | null = null;
  private retry = RETRY_FIRST;
  private id = 0;

  constructor(
    private readonly token: string,
    private readonly events: LinkEvents,
  ) {}

  open(): void {
    const url = address("live", { token: this.token });
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }: MessageEvent<string | ArrayBuffer>) => this.guard(() => this.take(data)));
    socket.addEventListener("close", () => {
      this.connected = false;
      this.events.lost();
      setTimeout(() => this.open(), this.retry);
      this.retry = Math.min(2 * this.retry, RETRY_LAST);
    });
    this.socket = socket;
  }

  /** Send a command; says whether there was anyone to send it to. */
  send(command: Command): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify({ ...command, id: ++this.id }));
    return true;
  }

  private take(data: string | ArrayBuffer): void {
    if (typeof data !== "string") return this.events.state(new Float64Array(data));
    const message = JSON.parse(data) as Message;
    if (message.type === "hello") {
      this.connected = true;
      this.retry = RETRY_FIRST;
      this.events.hello(message.meta, message.status);
    } else if (message.type === "status") this.events.status(message.status);
    else if (message.type === "refused") this.events.refused(message.why);
  }

  private guard(work: () => void): void {
    try {
      work();
    } catch (problem) {
      this.events.trouble(problem as Error);
    }
  }
}

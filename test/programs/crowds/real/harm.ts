/** Harms the real process that runs a body. Records each harmed process in a file, by its id. */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type BodyPlan, type Harm, lets } from '../grammar.ts';

/** Environment variable that names the file. */
export const NOTES = 'CROWD_NOTES';

/** A process that will be harmed (armed) or is harmed (struck), or the answer of the only dispatch of a process. */
export interface Note {
  readonly what: 'armed' | 'struck' | 'answered';
  readonly pid: number;
  readonly at: string;
}

/** Elements of an array that V8 keeps at 8 bytes each. */
const CHUNK = 1_000_000;

/** Call once in a process. */
export function noteAnswers(): void {
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (!request.url?.startsWith('/driveAlone/')) return;
    response.once('close', () => {
      if (response.writableFinished) note('answered');
    });
  });
}

export async function act({ ms, fails, harm }: BodyPlan, attempt: number): Promise<string> {
  if (harm) {
    note('armed');
    setTimeout(() => strike(harm.kind), harm.afterMs);
    if (!lets(harm)) return new Promise<string>(() => {});
  }
  await delay(ms);
  if (attempt <= fails) throw new Error('not yet');
  return 'done';
}

function strike(kind: Harm['kind']): void {
  note('struck');
  switch (kind) {
    case 'exit':
      process.exit(1);
      break;
    case 'spin':
      for (;;);
    case 'memory':
      for (const kept: number[][] = []; ; ) kept.push(new Array<number>(CHUNK).fill(kept.length + 0.5));
    case 'sigterm':
    case 'leave':
      process.kill(process.pid, 'SIGTERM');
      break;
    case 'timer':
      throw new Error('a timer of a hostile run');
  }
}

function note(what: Note['what']): void {
  appendFileSync(process.env[NOTES] as string, `${what} ${process.pid} ${new Date().toISOString()}\n`);
}

/** The notes of all processes so far, in their order. */
export function notesIn(file: string): Note[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [what, pid, at] = line.split(' ');
    return { what: what as Note['what'], pid: Number(pid), at: String(at) };
  });
}

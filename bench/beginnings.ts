/** The file in which a step records each of its starts. Complete lines survive a SIGKILL of the worker. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

export interface Beginning {
  readonly pid: number;
  /** Epoch ms. */
  readonly at: number;
}

export function begins(mark: string): void {
  const beginning: Beginning = { pid: process.pid, at: Date.now() };
  appendFileSync(mark, `${JSON.stringify(beginning)}\n`);
}

export function beginningsIn(mark: string): readonly Beginning[] {
  const lines = existsSync(mark) ? readFileSync(mark, 'utf8').split('\n') : [];
  // The text after the last line end is an incomplete line.
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Beginning);
}

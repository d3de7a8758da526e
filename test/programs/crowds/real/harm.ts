/** What a harm does to the process that runs its body, for real. Each process that is harmed is noted in a file, by its id. */
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type BodyPlan, type Harm, lets } from '../grammar.ts';

/** Environment variable that names the file. */
export const NOTES = 'CROWD_NOTES';

/** Elements of an array that V8 keeps at 8 bytes each. */
const CHUNK = 1_000_000;

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

function note(what: 'armed' | 'struck'): void {
  appendFileSync(process.env[NOTES] as string, `${what} ${process.pid}\n`);
}

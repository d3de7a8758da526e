/** Values that are given as text: JSON, a file, standard input. Owns their errors. */
import { resolve } from 'node:path';
import type { Answer } from 'cairn/api/calls';
import { UsageError } from '../exit.ts';
import type { World } from '../world.ts';

type Json = Exclude<Answer<'NewScheduleBody'>['input'], undefined>;

/**
 * Literal JSON, `@file`, or `-` for standard input; undefined if the option is not given.
 *
 * @throws UsageError naming the option
 */
export async function jsonValue(
  option: string,
  text: string | undefined,
  world: World,
): Promise<Json | undefined> {
  if (text === undefined) return undefined;
  const source =
    text === '-'
      ? await world.readStdin()
      : text.startsWith('@')
        ? readFile(option, text.slice(1), world)
        : text;
  try {
    return JSON.parse(source) as Json;
  } catch (error) {
    throw new UsageError(
      `${option} is not valid JSON: ${(error as Error).message}`,
      `Give JSON, @FILE for a file, or - for standard input. A string needs quotes: '"like this"'.`,
    );
  }
}

function readFile(option: string, path: string, world: World): string {
  try {
    return world.readFile(resolve(world.cwd, path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new UsageError(`${option}: there is no file ${path} in ${world.cwd}`);
    throw new UsageError(`${option}: ${message}`);
  }
}

/** A time, or how long ago: `2026-01-31T08:00:00Z`, `2026-01-31`, `3d`, `12h`, `30m`. @throws UsageError */
export function timeValue(option: string, text: string, now: number): string {
  const [, count, unit] = AGO.exec(text) ?? [];
  if (count !== undefined) return new Date(now - Number(count) * (UNITS[unit ?? ''] ?? 0)).toISOString();
  const isTime = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const time = Date.parse(text);
  const day = text.slice(0, 10);
  // `Date.parse` reads February 30 as March 2.
  if (isTime && Number.isFinite(time) && new Date(Date.parse(day)).toISOString().startsWith(day))
    return new Date(time).toISOString();
  throw new UsageError(
    `${option} must be a time like 2026-01-31T08:00:00Z, or how long ago like 3d or 12h, not '${text}'`,
  );
}

/** True if the text is relative to the current time. */
export function isAgo(text: string): boolean {
  return AGO.test(text);
}

const AGO = /^(\d{1,6})([smhd])$/;
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

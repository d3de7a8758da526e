/** Colours; none in a file, in a pipe, or with NO_COLOR. */
import { styleText } from 'node:util';
import type { Terminal, World } from '../world.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'wait' | 'busy' | 'dim' | 'bold' | 'plain';

const FORMATS = {
  good: 'green',
  bad: 'red',
  warn: 'yellow',
  wait: 'yellow',
  busy: 'cyan',
  dim: 'dim',
  bold: 'bold',
} as const satisfies Record<Exclude<Tone, 'plain'>, Parameters<typeof styleText>[0]>;

export interface Style {
  paint(tone: Tone, text: string): string;
  dim(text: string): string;
  bold(text: string): string;
}

export function styleFor(terminal: Terminal, { env }: Pick<World, 'env'>, refused = false): Style {
  // https://no-color.org: present and not empty.
  const isColoured = terminal.isTty && !refused && !env.NO_COLOR && env.TERM !== 'dumb';
  return isColoured ? COLOURED : PLAIN;
}

const COLOURED: Style = styleOf((tone, text) =>
  tone === 'plain' || text === '' ? text : styleText(FORMATS[tone], text, { validateStream: false }),
);
export const PLAIN: Style = styleOf((_tone, text) => text);

function styleOf(paint: Style['paint']): Style {
  return { paint, dim: (text) => paint('dim', text), bold: (text) => paint('bold', text) };
}

/** Statuses of runs, steps, effects and schedules. An unknown status has no colour. */
const TONES: Readonly<Record<string, Tone>> = {
  pending: 'dim',
  running: 'busy',
  replaying: 'busy',
  retrying: 'warn',
  waiting: 'warn',
  awaiting_approval: 'warn',
  waiting_external: 'warn',
  interrupted: 'bad',
  completed: 'good',
  failed: 'bad',
  cancelled: 'dim',
  succeeded: 'good',
  degraded: 'warn',
  skipped: 'dim',
  reused: 'good',
  attempted: 'warn',
  in_doubt: 'bad',
  recorded: 'good',
  blocked: 'warn',
  active: 'good',
  paused: 'warn',
  withdrawn: 'dim',
};

export function statusTone(status: string): Tone {
  return Object.hasOwn(TONES, status) ? (TONES[status] ?? 'plain') : 'plain';
}

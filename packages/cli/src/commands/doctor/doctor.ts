/** `doctor`: prints the health of an installation, and the places to check that its API does not show. */
import { type Finding, NOT_SEEN } from '@cairn/client';
import { command } from '../../arguments/command.ts';
import { EXIT } from '../../exit.ts';
import { asCalled } from '../../invocation.ts';
import type { Tone } from '../../render/style.ts';
import { clean, wrap } from '../../render/width.ts';
import { examine } from './examine.ts';

const MARKS: Readonly<Record<Finding['state'], readonly [string, Tone]>> = {
  well: ['✓', 'good'],
  note: ['·', 'dim'],
  wrong: ['✗', 'bad'],
};

export const doctor = command({
  name: 'doctor',
  summary: 'Check an installation; exit code 7 if something is wrong',
  details:
    'Asks the API: reachability, clocks, key, kill switch, pauses, plan versions still in use, schedules, stuck runs;\nwith a key of the role installation also indexes, TTL, the queue, scheduled functions, secrets. For what it cannot check,\nit says how to.',
  examples: [
    ['doctor', 'after a deployment, or when something seems stuck'],
    ['doctor --json', 'for monitoring'],
  ],
  async run({ api, out }) {
    const { findings, isLocal } = await examine(api);
    const notSeen = isLocal ? [] : NOT_SEEN;
    out.answer({ findings, notSeen }, ({ style, call, columns = Number.POSITIVE_INFINITY }) => {
      const within = (text: string, indent: string) =>
        wrap(text, columns - indent.length).join(`\n${indent}`);
      const lines = findings.map(({ code, state, what, help }) => {
        const [mark, tone] = MARKS[state];
        // The code helps a person to look up the problem.
        const name = state === 'wrong' ? `  ${style.dim(code)}` : '';
        const line = `${style.paint(tone, mark)} ${within(`${clean(what)}${name}`, '  ')}\n`;
        return help === undefined
          ? line
          : `${line}    ${style.dim(within(asCalled(clean(help), call), '    '))}\n`;
      });
      if (notSeen.length === 0) return lines.join('');
      const hidden = notSeen.map(({ what, look: command }) => `  ${within(`${what}: ${command}`, '    ')}\n`);
      return `${lines.join('')}\n${style.bold('Not checked from here')}\n\n${hidden.join('')}`;
    });
    if (findings.some(({ code }) => code === 'UNREACHABLE')) return EXIT.unreachable;
    return findings.some(({ state }) => state === 'wrong') ? EXIT.found : EXIT.ok;
  },
});

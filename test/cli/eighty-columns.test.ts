import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { delivery, pretendedCarrier } from '../../examples/order/delivery.ts';
import { order } from '../../examples/order/order.ts';
import { pretendedBindings } from '../../examples/order/payments.ts';
import { helpOf, helpOfGroup } from '../../packages/cli/src/arguments/help.ts';
import { COMMANDS } from '../../packages/cli/src/commands/all.ts';
import { PLAIN } from '../../packages/cli/src/render/style.ts';
import { cells } from '../../packages/cli/src/render/width.ts';
import { Stage } from './support/stage.ts';

const COLUMNS = 80;
/** Commands to copy are never truncated. */
const COMMAND = /^(?:(?:npx |npm run )?cairn|gcloud) /;

const tooWide = (text: string) =>
  text
    .split('\n')
    .filter((line) => cells(line) > COLUMNS && !COMMAND.test(stripVTControlCharacters(line).trim()));

test.each(['cairn', 'npx cairn', 'npm run cairn --'])('every help of %s fits 80 columns', (call) => {
  const layout = { style: PLAIN, room: COLUMNS, call };
  const helps = [helpOfGroup([], COMMANDS, layout), ...COMMANDS.map((command) => helpOf(command, layout))];
  expect(helps.flatMap(tooWide)).toEqual([]);
});

describe('on a terminal of 80 columns', () => {
  let stage: Stage;
  const runs: string[] = [];
  beforeAll(async () => {
    stage = new Stage([order, delivery], [...pretendedBindings, pretendedCarrier]);
    const long = 'a-customer-with-a-very-long-address@a-company-with-a-long-name.example.com';
    for (const [type, input] of [
      ['order', { customer: long, orderId: 'order-with-a-long-name-1' }],
      ['order', { customer: long, address: 'nowhere' }],
      ['order', { customer: long, amountCents: 60_000 }],
      ['delivery', { parcel: 'parcel-slow' }],
      ['delivery', { parcel: 'parcel-lost' }],
    ] as const) {
      const { out } = await stage.cairn(['runs', 'start', type, '--input', JSON.stringify(input)]);
      runs.push(out.trim());
      await stage.drive();
    }
  });

  const shown: readonly (readonly string[])[] = [
    ['runs', 'list'],
    ['runs', 'list', '--sort', 'longest'],
    ['runs', 'statistics'],
    ['inbox'],
    ['workflows'],
    ['schedules', 'list'],
    ['doctor'],
    ['clients', 'list'],
    ['budgets'],
    ...['explain', 'runs show', 'runs steps', 'runs events', 'effects list', 'logs'].flatMap((command) =>
      [0, 1, 2, 3, 4].map((at) => [...command.split(' '), `#${at}`]),
    ),
  ];

  test.each(shown.map((words) => ({ line: words.join(' '), words })))('$line fits', async ({ words }) => {
    const named = words.map((word) => (word.startsWith('#') ? (runs[Number(word.slice(1))] ?? '') : word));
    const { code, out, err } = await stage.cairn(named, { isTty: true, columns: COLUMNS });
    expect([code, err]).toEqual([expect.any(Number), expect.not.stringContaining('INTERNAL')]);
    expect(out + err).not.toBe('');
    expect(tooWide(out)).toEqual([]);
  });

  test('a list of runs still shows workflow and age of each run', async () => {
    const { out } = await stage.cairn(['runs', 'list'], { isTty: true, columns: COLUMNS });
    const lines = stripVTControlCharacters(out).trim().split('\n');
    expect(lines[0]).toMatch(/^RUN +WORKFLOW +STATUS +CREATED$/);
    expect(lines).toHaveLength(1 + runs.length);
    for (const line of lines.slice(1)) expect(line).toMatch(/ (?:order|delivery) v1 .* ago$/);
  });
});

test('an unknown workflow gets the most similar name as a suggestion', async () => {
  const stage = new Stage([order], [...pretendedBindings]);
  const { code, out, err } = await stage.cairn(['runs', 'list', '--type', 'ordr']);
  expect([code, out, err]).toEqual([0, '', "No runs. There is no workflow 'ordr'. Did you mean 'order'?\n"]);
  expect((await stage.cairn(['runs', 'list', '--type', 'order'])).err).toBe(
    'No runs. Child runs are left out: --children.\n',
  );
});

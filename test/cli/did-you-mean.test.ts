import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { Stage } from './support/stage.ts';

const order = defineWorkflow({
  type: 'order',
  planVersion: 1,
  input: z.unknown(),
  steps(step) {
    const charge = step('charge', ({ log }) => log('done'));
    const agree = step.approval('agree', { needs: { charge }, ask: () => 'Agree?' });
    return { ship: step('ship', { needs: { agree } }, () => 1) };
  },
});

let stage: Stage;
let schedule: string;
beforeAll(async () => {
  stage = new Stage([order]);
  await stage.cairn(['runs', 'start', 'order']);
  await stage.drive();
  const made = await stage.cairn(['schedules', 'create', 'order', '0 6 * * *', '--json']);
  schedule = (JSON.parse(made.out) as { id: string }).id;
});

/** With its first and second letter exchanged. */
const mistyped = (id: string) => `${id[1]}${id[0]}${id.slice(2)}`;

describe('an unknown name is answered with the near match', () => {
  test.each([
    [['logs', 'last', '--step', 'chagre'], "the run has no step 'chagre'\nDid you mean 'charge'?"],
    [['logs', '-f', 'last', '--step', 'shp'], "Did you mean 'ship'?"],
    [['logs', 'last', '--step', 'chagre[0]'], "Did you mean 'charge'?"],
    [['logs', 'last', '--step', 'nope'], 'Its steps: charge, agree, ship.'],
    [['runs', 'memos', 'last', 'chagre'], "Did you mean 'charge'?"],
    [['runs', 'approve', 'last', 'agre'], "the run has no step 'agre'\nDid you mean 'agree'?"],
    [['runs', 'approve', 'last', 'nope'], 'Its steps: charge, agree, ship.'],
    [['pause', 'ordr'], "Did you mean 'order'?"],
    [['unpause', 'ordr'], "Did you mean 'order'?"],
    [['workflows', 'input', 'ordr'], "Did you mean 'order'?"],
    [['schedules', 'create', 'ordr', '0 0 * * *'], "Did you mean 'order'?"],
    [['schedules', 'show', 'nope'], 'cairn schedules list shows the schedules of your tenant.'],
    [['pause', 'nope'], 'cairn workflows lists the types.'],
  ])('cairn %j', async (words, expected) => {
    const { code, out, err } = await stage.cairn(words);
    expect([code, out, err]).toEqual([3, '', expect.stringContaining(expected)]);
    expect(err).not.toContain('/v1/');
  });

  test.each(['show', 'pause', 'resume', 'trigger', 'delete', 'change', 'backfill'])(
    'cairn schedules %s',
    async (verb) => {
      const more = { change: ['--cron', '0 7 * * *'], backfill: ['--from', '1d'] }[verb] ?? [];
      const { code, err } = await stage.cairn(['schedules', verb, mistyped(schedule), ...more]);
      expect([code, err]).toEqual([3, expect.stringContaining(`Did you mean '${schedule}'?`)]);
    },
  );

  test('runs statistics counts no run, and says so', async () => {
    const { code, err } = await stage.cairn(['runs', 'statistics', '--type', 'ordr']);
    expect([code, err]).toEqual([0, "No runs. There is no workflow 'ordr'. Did you mean 'order'?\n"]);
  });

  test('a program gets the code of the API, with the suggestion as help', async () => {
    const { err } = await stage.cairn(['pause', 'ordr', '--json']);
    expect(JSON.parse(err)).toMatchObject({
      error: { code: 'NOT_FOUND', help: "Did you mean 'order'?" },
      exitCode: 3,
    });
  });
});

test('an existing step is accepted, whether it has begun or asks nothing', async () => {
  expect(await stage.cairn(['logs', 'last', '--step', 'ship'])).toMatchObject({
    code: 0,
    err: 'No lines.\n',
  });
  const { code, err } = await stage.cairn(['runs', 'approve', 'last', 'ship']);
  expect([code, err]).toEqual([3, expect.stringContaining("has not asked for a decision on 'ship'")]);
});

import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Installation } from '../../api/installation.ts';
import { commandsOf, requestOf } from '../commands.ts';

const commands = commandsOf('docs/operating.md');

test('every command in docs/operating.md has the effect that the page states', async () => {
  const review = defineWorkflow({
    type: 'review-pull-request',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ done: step('do', () => 1) }),
  });
  const installation = new Installation([review]);
  const key = await installation.key('boss', { roles: ['installation'] });
  const set: unknown[] = [];
  for (const command of commands) {
    const answer = await installation.api.request(requestOf(command, key));
    expect([command, answer.status]).toEqual([command, 200]);
    const config = (await installation.world.config.read())?.config;
    set.push([config?.killSwitch, config?.paused.get('review-pull-request')?.reason]);
  }
  expect(set).toEqual([
    [undefined, undefined],
    [false, 'labels are wrong'],
    [false, undefined],
    [true, undefined],
    [true, undefined],
    [false, undefined],
    [false, undefined],
  ]);
});

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { release, Scene } from '../../operations/approvals/scene.ts';
import { World } from '../../support/world.ts';
import { actionOf, commandForm, pressOf, SlackEndpoint, type SlackRequestOptions } from './endpoint.ts';

/** Takes some seconds. `FUZZ_INPUTS=20000` before the command tests more. */
const INPUTS = Number(process.env.FUZZ_INPUTS ?? 3_000);

const deploy = defineWorkflow({
  type: 'deploy',
  planVersion: 1,
  input: z.object({ service: z.string().min(1) }),
  on: { slack: { command: '/deploy', input: ({ text }) => ({ service: text.trim() }) } },
  steps: (step) => ({ a: step('a', () => 1) }),
});

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom('', '1', 'T1', 'T2', 'null', '{}', '/deploy', '__proto__', 'https://x', '\u0000', '\ud83d'),
);
/** Usually valid, so that an odd input gets past the checks before it. */
const mostly = <T>(usual: T, odd: fc.Arbitrary<T | string | undefined>) =>
  fc.oneof({ weight: 40, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: odd });

const COMMAND = commandForm();
const commands = fc
  .tuple(
    fc.record(
      Object.fromEntries(Object.entries(COMMAND).map(([name, usual]) => [name, mostly(usual, text)])),
    ),
    fc.dictionary(text, text, { maxKeys: 2 }),
    fc.nat(),
  )
  .map(
    ([form, more, trigger]) =>
      new URLSearchParams({ ...form, ...more, trigger_id: `${form.trigger_id}.${trigger}` }),
  )
  .map(String);

const json = fc.jsonValue({ maxDepth: 4 });
const oddly = <T>(usual: T): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 30, arbitrary: fc.constant<unknown>(usual) },
    { weight: 1, arbitrary: json },
    { weight: 1, arbitrary: text },
  );

function presses(runId: string): fc.Arbitrary<string> {
  const value = fc.record({
    runId: oddly(runId),
    stepId: oddly('gate'),
    waitId: oddly('gate.1'),
    decision: oddly('approve'),
  });
  const action = fc.oneof(
    { weight: 6, arbitrary: value.map((carried) => actionOf(carried) as unknown) },
    { weight: 1, arbitrary: fc.tuple(json, text).map(([carried, id]) => actionOf(carried, id) as unknown) },
    { weight: 1, arbitrary: json },
  );
  const payload = fc
    .record({
      type: oddly('block_actions'),
      user: oddly({ id: 'U1', team_id: 'T1' }),
      team: oddly({ id: 'T1' }),
      actions: fc.oneof(
        { weight: 8, arbitrary: fc.tuple(action) },
        { weight: 1, arbitrary: fc.array(action) },
        { weight: 1, arbitrary: json },
      ),
    })
    .map((more) => JSON.stringify(pressOf({}, more)));
  return fc
    .oneof(
      { weight: 8, arbitrary: payload },
      { weight: 1, arbitrary: json.map((any) => JSON.stringify(any)) },
      { weight: 1, arbitrary: text },
    )
    .map((carried) => new URLSearchParams({ payload: carried }).toString());
}

/** A form with a replaced piece. */
const damaged = (bodies: fc.Arbitrary<string>) =>
  fc
    .tuple(
      bodies,
      fc.nat(),
      fc.nat(20),
      fc.oneof(text, fc.constantFrom('&', '=', '%', '%ff', '&team_id=T2', '+')),
    )
    .map(([body, at, length, piece]) => {
      const from = at % (body.length + 1);
      return body.slice(0, from) + piece + body.slice(from + length);
    });

function requestOptions(runId: string): fc.Arbitrary<Partial<SlackRequestOptions>> {
  const bodies = fc.oneof(commands, presses(runId));
  const body = fc.oneof(
    { weight: 5, arbitrary: bodies },
    { weight: 2, arbitrary: damaged(bodies) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
    { weight: 1, arbitrary: text },
  );
  const header = fc.oneof(fc.string({ unit: 'grapheme-ascii', maxLength: 40 }), fc.constant(undefined));
  const headers = fc.record(
    {
      'content-type': header,
      'x-slack-signature': header,
      'x-slack-request-timestamp': header,
      traceparent: header,
    },
    { requiredKeys: [] },
  );
  return fc.record(
    {
      body,
      headers: mostly(
        {},
        headers.map((some) => some as never),
      ) as fc.Arbitrary<SlackRequestOptions['headers']>,
    },
    { requiredKeys: ['body'] },
  );
}

test(`of ${INPUTS} inputs none is answered with a 5xx, and none that is refused writes anything`, async () => {
  const world = new World({ workflows: [release(), deploy] });
  const scene = await Scene.asking({ world });
  const endpoint = new SlackEndpoint([], world);
  const { db, queue } = world;
  const stored = () =>
    [db.runs.size, db.records.size, queue.pending.length, db.runs.get(scene.runId)?.snapshot.head].join();
  const seen = { started: 0, decided: 0, told: 0, acknowledged: 0, refused: 0, unsigned: 0 };

  await fc.assert(
    fc.asyncProperty(requestOptions(scene.runId), async (options) => {
      const before = stored();
      const answer = await endpoint.post(options);
      const body = await answer.text();
      expect(answer.status).toBeLessThan(500);
      expect(endpoint.lines.splice(0).filter(({ level }) => level === 'error')).toEqual([]);
      const { text: words = '' } = body === '' ? {} : (JSON.parse(body) as { text?: string });
      const does = answer.status === 200 && /^(?:Started|Approved|Rejected|Halted) /.test(words);
      if (!does) expect(stored()).toBe(before);
      if (does) seen[words.startsWith('Started') ? 'started' : 'decided'] += 1;
      else if (answer.status === 200) seen[body === '' ? 'acknowledged' : 'told'] += 1;
      else seen[answer.status === 401 ? 'unsigned' : 'refused'] += 1;
    }),
    { numRuns: INPUTS },
  );
  // The random requests reach every kind of response, not only the first check.
  for (const times of Object.values(seen)) expect(times).toBeGreaterThan(20);
});

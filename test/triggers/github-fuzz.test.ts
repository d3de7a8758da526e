import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { PullRequestEvent } from '../../functions/src/workflows/review-pull-request/event.ts';
import { ERROR_CODES, type ErrorCode } from '../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { CollectedLog } from '../../packages/cairn/src/testing/world/collected-log.ts';
import { githubWebhook } from '../../packages/cairn/src/triggers/github/webhook.ts';
import { ODD } from '../api/fuzz/json-text.ts';
import { Installation, sign } from '../api/installation.ts';
import { changed, imageOf } from '../support/image.ts';

/** Takes some seconds. `FUZZ_INPUTS=20000` before the command tests more. */
const INPUTS = Number(process.env.FUZZ_INPUTS ?? 250);
/** Long enough for a busy machine. */
const TIMEOUT_MS = 240_000 + INPUTS * 30;
/** Deliveries to one installation, one after the other, so that some meet the state that others left. */
const IN_A_ROW = 25;

interface Example {
  readonly name: string;
  readonly examples: readonly object[];
}
const EXAMPLES = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly Example[];
const RECORDED = EXAMPLES.flatMap(({ name, examples }) =>
  examples.map((payload) => ({ event: name, payload: payload as unknown })),
);
const LISTENED = ['pull_request', 'push', 'issue_comment', 'issues', 'installation'];

/** Accepts any signed payload, so that odd payloads get as far as possible. */
const archive = defineWorkflow({
  type: 'archive',
  planVersion: 1,
  input: z.unknown(),
  on: { github: LISTENED.map((event) => ({ event })) },
  steps: (step) => ({ kept: step('keep', () => 1) }),
});

/** Accepts the payloads of the shipped review. */
const review = defineWorkflow({
  type: 'review',
  planVersion: 1,
  input: PullRequestEvent,
  on: { github: [{ event: 'pull_request', actions: ['opened', 'synchronize', 'edited'] }] },
  steps: (step) => ({ read: step('read', ({ input }) => input.number) }),
});

/** The value with another value somewhere in it; `where` chooses the member at each level, and the depth. */
function withPlaced(value: unknown, where: readonly number[], placed: unknown): unknown {
  const [first, ...rest] = where;
  if (first === undefined || typeof value !== 'object' || value === null) return placed;
  const names = Object.keys(value);
  const name = names[first % names.length];
  if (name === undefined) return placed;
  const inner = withPlaced((value as Record<string, unknown>)[name], rest, placed);
  return Array.isArray(value)
    ? value.map((one, index) => (String(index) === name ? inner : one))
    : { ...value, [name]: inner };
}

/** Members that the endpoint reads, because random positions rarely hit them. */
const READ = ['action', 'repository', 'pull_request', 'issue', 'installation', 'sender', 'organization'];
const odd = fc.oneof(
  fc.constantFrom(...ODD),
  fc.constantFrom(
    '{"full_name":"a/b/c"}',
    '{"full_name":"../.."}',
    '{"number":1e21}',
    '{"number":-1}',
    '{"id":1e999}',
  ),
  fc.json({ maxDepth: 3 }),
);

/** Text of a recorded payload with a changed part. */
const PLACE = '"@@here@@"';
const bodies = fc
  .tuple(
    fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom(...RECORDED.filter(({ event }) => LISTENED.includes(event))) },
      { weight: 10, arbitrary: fc.constantFrom(...RECORDED) },
      // Its response occurs for one or two of hundreds of requests, and for no other kind.
      { weight: 1, arbitrary: fc.constantFrom(...RECORDED.filter(({ event }) => event === 'ping')) },
    ),
    fc.oneof(
      fc.constant({ kind: 'as recorded' } as const),
      fc.record({
        kind: fc.constant('at' as const),
        where: fc.array(fc.nat(60), { maxLength: 5 }),
        text: odd,
      }),
      fc.record({ kind: fc.constant('member' as const), name: fc.constantFrom(...READ), text: odd }),
      fc.record({ kind: fc.constant('cut' as const), at: fc.nat(), length: fc.nat(40), text: odd }),
      fc.record({ kind: fc.constant('whole' as const), text: odd }),
    ),
  )
  .map(([{ event, payload }, change]) => {
    const here = JSON.parse(PLACE) as unknown;
    if (change.kind === 'whole') return { event, body: change.text };
    if (change.kind === 'at' || change.kind === 'member') {
      const placed =
        change.kind === 'at'
          ? withPlaced(payload, change.where, here)
          : { ...(payload as object), [change.name]: here };
      return { event, body: JSON.stringify(placed).replace(PLACE, () => change.text) };
    }
    const text = JSON.stringify(payload);
    if (change.kind === 'as recorded') return { event, body: text };
    const from = change.at % (text.length + 1);
    return { event, body: text.slice(0, from) + change.text + text.slice(from + change.length) };
  });

const mostly = <T>(usual: T, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 20, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
const header = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
  fc.constantFrom('', 'sha256=', `sha256=${'0'.repeat(64)}`, 'sha1=x', '99999999999', '-1', '../x', 'a:b'),
  fc.string({ unit: fc.integer({ min: 0xa0, max: 0xff }).map((code) => String.fromCharCode(code)) }),
);
const headers = fc.dictionary(
  fc.constantFrom(
    ...[
      'x-github-event',
      'x-github-delivery',
      'x-hub-signature-256',
      'content-type',
      'content-length',
      'traceparent',
    ],
  ),
  fc.option(header, { nil: undefined }),
  { maxKeys: 2 },
);

interface Delivery {
  readonly event: string;
  readonly id: string;
  readonly body: string | Uint8Array;
  readonly isForm: boolean;
  readonly secret: string | undefined;
  readonly method: string;
  readonly path: string;
  /** Sent twice, as GitHub does without a response. */
  readonly isRepeated: boolean;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const deliveries: fc.Arbitrary<Delivery> = fc
  .record({
    of: bodies,
    id: fc.nat(60).map((one) => `delivery-${one}`),
    bytes: mostly<Uint8Array | undefined>(undefined, fc.uint8Array({ maxLength: 60 })),
    isForm: mostly(false, fc.constant(true)),
    secret: mostly<string | undefined>(undefined, fc.string()),
    method: mostly('POST', fc.constantFrom('GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS')),
    path: mostly('/webhooks/github', fc.webPath()),
    headers: mostly({}, headers),
    isRepeated: fc.nat(7).map((one) => one === 0),
  })
  .map(({ of, bytes, ...rest }) => ({ ...of, ...rest, body: bytes ?? of.body }));

function requestOf({ event, id, isForm, secret, method, path, ...sent }: Delivery): Request {
  const isText = typeof sent.body === 'string';
  const text =
    isText && isForm ? `payload=${encodeURIComponent(String(sent.body).toWellFormed())}` : sent.body;
  const body = Buffer.from(text as string);
  const all: Record<string, string | undefined> = {
    'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
    'x-github-event': event,
    'x-github-delivery': id,
    'x-hub-signature-256': sign(body as unknown as string, secret),
    ...sent.headers,
  };
  return new Request(`http://cairn.test${path.startsWith('/') ? path : `/${path}`}`, {
    method,
    headers: Object.entries(all).filter((one): one is [string, string] => one[1] !== undefined),
    ...(['GET', 'HEAD'].includes(method) ? {} : { body: new Uint8Array(body) }),
  });
}

const KINDS = ['started', 'duplicate', 'ignored', 'ponged', 'unsigned', 'refused'] as const;

test(
  `of ${INPUTS} deliveries none is answered with a 5xx, and none that starts nothing writes anything`,
  async () => {
    const seen = new Map<(typeof KINDS)[number], number>();
    const complaints = new Map<string, string>();
    await fc.assert(
      fc.asyncProperty(fc.array(deliveries, { minLength: IN_A_ROW, maxLength: IN_A_ROW }), async (row) => {
        const { world, github } = new Installation([review, archive]);
        const log = new CollectedLog(world.clock);
        const deps = { ...github, log };
        let before = imageOf(world);
        for (const delivery of row.flatMap((one) => (one.isRepeated ? [one, one] : [one]))) {
          const answer = await githubWebhook(deps, requestOf(delivery));
          const { status } = answer;
          const text = await answer.text();
          const after = imageOf(world);
          const places = changed(before, after);
          before = after;
          try {
            expect(log.lines.filter(({ level }) => level === 'error')).toEqual([]);
            const report = JSON.parse(text) as Record<string, unknown>;
            const kind = kindOf(status, report);
            seen.set(kind, (seen.get(kind) ?? 0) + 1);
            if (status >= 400) assertProblem(answer, report);
            if (kind === 'started') expect(places).toContain(`runs/${report.runId}/snapshot`);
            // The same content under another delivery's id: only that id is stored with the run.
            else if (kind === 'duplicate')
              expect(places.filter((place) => !isKeyOf(delivery, place))).toEqual([]);
            else expect(places).toEqual([]);
          } catch (error) {
            const { event, headers: sent } = delivery;
            const body = String(delivery.body).slice(0, 300);
            complaints.set(`${status}`, `${JSON.stringify({ status, text, event, sent, body })}\n${error}`);
            return;
          }
        }
      }),
      { numRuns: Math.ceil(INPUTS / IN_A_ROW) },
    );
    expect([...complaints.values()].join('\n\n')).toBe('');
    // The random requests reach every kind of response, not only the first check.
    for (const kind of KINDS) expect([kind, seen.get(kind) ?? 0]).not.toEqual([kind, 0]);
  },
  TIMEOUT_MS,
);

function isKeyOf({ headers: sent, ...delivery }: Delivery, place: string): boolean {
  const id = sent['x-github-delivery'] ?? delivery.id;
  return place === `records/github:${id}` || place.startsWith(`records/github:${id}:`);
}

function kindOf(status: number, said: Record<string, unknown>): (typeof KINDS)[number] {
  if (status === 202 && said.ignored === true) return 'ignored';
  if (status === 202 && typeof said.runId === 'string') return 'started';
  if (status === 200 && said.duplicate === true) return 'duplicate';
  if (status === 200 && said.pong === true) return 'ponged';
  if (status === 401) return 'unsigned';
  if (status >= 400 && status < 500) return 'refused';
  throw new Error('no answer that GitHub is to get');
}

function assertProblem({ status, headers: sent }: Response, problem: Record<string, unknown>): void {
  expect(sent.get('content-type')).toBe('application/problem+json');
  expect(ERROR_CODES[problem.code as ErrorCode]).toMatchObject({ httpStatus: status });
  expect(problem).toMatchObject({
    status,
    detail: expect.stringMatching(/./),
    help: expect.stringMatching(/./),
  });
}

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ApiDeps } from '../../../packages/cairn/src/api/deps.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../../support/intercept.ts';
import { settle } from '../../support/virtual-clock.ts';
import { type Drawn, requests } from './requests.ts';
import { Stage } from './stage.ts';

/** `FUZZ_INPUTS=20000` before the command tests more. */
const INPUTS = Number(process.env.FUZZ_INPUTS ?? 200);
/** Long enough for a busy machine. */
const TIMEOUT_MS = 240_000 + INPUTS * 30;
const IN_A_ROW = 20;
/** Every wait of a request ends before this many timers have fired. */
const MAX_TIMERS = 200;

/** Fate of a call to a store or queue. With `before` and `after` the connection breaks before or after the effect. */
type Fate = 'well' | 'before' | 'after';

/** The installation with ports whose calls have these fates in order. After the end of the list all calls succeed. */
function troubled(fates: Iterator<Fate>): (deps: ApiDeps) => ApiDeps {
  const port = <T extends object>(target: T): T =>
    intercept(target, async (call, proceed) => {
      const { value: fate = 'well' } = fates.next();
      const lost = new OutcomeUnknown(call.method, new Error('connection lost'));
      if (fate === 'before') throw lost;
      const answer = await proceed();
      if (fate === 'after') throw lost;
      return answer;
    });
  return (deps) => ({
    ...deps,
    store: port(deps.store),
    records: port(deps.records),
    queue: port(deps.queue),
    clients: port(deps.clients),
    clientRegistry: port(deps.clientRegistry),
    mailboxes: port(deps.mailboxes),
    config: port(deps.config),
    runtime: port(deps.runtime),
    statistics: port(deps.statistics),
    finder: port(deps.finder),
    schedules: port(deps.schedules),
    dayBudgets: port(deps.dayBudgets),
  });
}

/** The answer. The time advances whenever the request only waits. */
async function send(stage: Stage, { path, method, as, headers, body }: Drawn): Promise<Response> {
  const authorization = stage.credentials[as]?.value;
  let answer: Response | undefined;
  const asked = Promise.resolve(
    stage.api.request(path, {
      method,
      headers: { ...headers, ...(authorization === undefined ? {} : { authorization }) },
      ...(body === undefined ? {} : { body: body as string }),
    }),
  ).then((one) => {
    answer = one;
  });
  for (let timers = 0; timers < MAX_TIMERS; timers += 1) {
    await settle();
    if (answer) break;
    stage.installation.world.clock.fireNext();
  }
  await asked;
  if (!answer) throw new Error('no answer');
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) await answer.body?.cancel();
  return answer;
}

const fates = fc.oneof(
  fc.array(fc.constantFrom<Fate>('well', 'before', 'after'), { maxLength: 30 }),
  // A store that stays unavailable.
  fc.constant<Fate[]>(Array(2_000).fill('before')),
);

test(
  `each of ${INPUTS} inputs to failing stores gets an answer, and the only server error is 503`,
  async () => {
    const first = await Stage.make();
    const seen = new Map<number, number>();
    const complaints = new Map<string, string>();
    const row = fc.array(fc.tuple(requests(first), fates), { minLength: IN_A_ROW, maxLength: IN_A_ROW });
    await fc.assert(
      fc.asyncProperty(row, async (requested) => {
        let current: Iterator<Fate> = [].values();
        const stage = await Stage.make({ around: troubled({ next: () => current.next() }) });
        for (const [drawn, those] of requested) {
          current = those.values();
          const answer = await send(stage, drawn);
          const { status } = answer;
          seen.set(status, (seen.get(status) ?? 0) + 1);
          const isHealth = drawn.path.startsWith('/v1/healthz');
          if (status < 500 || (status === 503 && isHealth)) continue;
          const text = await answer.text();
          const { code } = drawn.method === 'HEAD' ? { code: 'UNAVAILABLE' } : JSON.parse(text);
          const wait = answer.headers.get('retry-after');
          if (status === 503 && code === 'UNAVAILABLE' && wait !== null) continue;
          const { method, route } = drawn;
          const cause = JSON.stringify(stage.log.lines.at(-1));
          complaints.set(`${method} ${route.template} ${status}`, `${method} ${drawn.path} ${text} ${cause}`);
        }
      }),
      { numRuns: Math.ceil(INPUTS / IN_A_ROW) },
    );
    expect([...complaints.values()].join('\n\n')).toBe('');
    expect(seen.get(200)).toBeGreaterThan(0);
    expect(seen.get(503)).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

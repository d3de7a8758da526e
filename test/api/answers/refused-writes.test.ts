/**
 * Sends requests to each route that writes, with a store that refuses writes: at every write of the request, including idempotency
 * records, and for each reason. The answer has the right code, and when the store has recovered, the same request under the same key does its work.
 */
import { describe, expect, test } from '@jest/globals';
import type { ApiDeps } from '../../../packages/cairn/src/api/deps.ts';
import { PROCESSING_LOCK_MS } from '../../../packages/cairn/src/core/decisions/idempotency.ts';
import type { ErrorCode } from '../../../packages/cairn/src/core/errors.ts';
import { OutcomeUnknown, StoreRefused } from '../../../packages/cairn/src/ports/store-errors.ts';
import { changed } from '../../support/image.ts';
import { intercept } from '../../support/intercept.ts';
import { ROUTES, type Route, TABLE } from '../access/routes/table.ts';
import { Stage } from '../fuzz/stage.ts';
import { send, usualOf } from './cases.ts';

interface Refusal {
  readonly error: Error;
  readonly code: ErrorCode;
}

const REFUSALS: Readonly<Record<string, Refusal>> = {
  INVALID_ARGUMENT: refused(3, 'request'),
  PERMISSION_DENIED: refused(7, 'installation'),
  RESOURCE_EXHAUSTED: { error: new OutcomeUnknown('write', 'the quota is used up'), code: 'UNAVAILABLE' },
};

function refused(code: number, reason: 'request' | 'installation'): Refusal {
  return { error: new StoreRefused('write', 'a text of the store', { code, reason }), code: 'STORE_REFUSED' };
}

/** Methods of the ports that write. */
const WRITES: ReadonlySet<string> = new Set([
  'apply',
  'change',
  'commit',
  'create',
  'delete',
  'hold',
  'release',
  'remove',
  'replace',
  'revoke',
  'save',
  'start',
  'touch',
  'update',
  'write',
  'writePayload',
]);
/** No request of the table needs more writes than this. */
const MAX_WRITES = 12;

/** Refuses the write with this number and all later ones, until it recovers. */
class Gate {
  readonly #from: number;
  readonly #refusal: Refusal;
  #writes = 0;
  #isHealed = false;
  hasRefused = false;

  constructor(from: number, refusal: Refusal) {
    this.#from = from;
    this.#refusal = refusal;
  }

  heal(): void {
    this.#isHealed = true;
  }

  before(deps: ApiDeps): ApiDeps {
    const guarded = <T extends object>(port: T): T =>
      intercept(port, (call, proceed) => {
        if (this.#isHealed || !WRITES.has(call.method)) return proceed();
        if (this.#writes++ < this.#from) return proceed();
        this.hasRefused = true;
        return Promise.reject(this.#refusal.error);
      });
    return {
      ...deps,
      store: guarded(deps.store),
      records: guarded(deps.records),
      mailboxes: guarded(deps.mailboxes),
      effects: guarded(deps.effects),
      integrity: guarded(deps.integrity),
      retention: guarded(deps.retention),
      erasures: guarded(deps.erasures),
      clientRegistry: guarded(deps.clientRegistry),
      config: guarded(deps.config),
      schedules: guarded(deps.schedules),
      dayBudgets: guarded(deps.dayBudgets),
    };
  }
}

/** Its third write stores the answer. If that is refused, the schedule is already deleted, and a repetition gets that answer. */
const GONE: Route = 'DELETE /v1/schedules/{id}';
const WRITING = ROUTES.filter((route) => !route.startsWith('GET ') && TABLE[route].idle !== true);

async function asked(stage: Stage, route: Route, gate: Gate) {
  const pending = send(stage, route, usualOf(route, stage, 'refused'), (deps) => gate.before(deps));
  const { clock } = stage.installation.world;
  let answer: Response | undefined;
  void pending.then((given) => {
    answer = given;
  });
  // A repeated call waits for the clock.
  for (let turn = 0; answer === undefined && turn < 10_000; turn += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (answer === undefined) clock.fireNext(Number.POSITIVE_INFINITY);
  }
  if (answer === undefined) throw new Error(`${route} hangs`);
  const body = answer.status === 204 ? {} : ((await answer.json()) as { readonly code?: string });
  return { status: answer.status, code: body.code, text: JSON.stringify(body) };
}

describe.each(Object.entries(REFUSALS))('a store that answers %s', (_, refusal) => {
  test.each(WRITING)(
    'is reported by %s, and the repetition does the work when the store has recovered',
    async (route) => {
      let points = 0;
      for (let from = 0; from < MAX_WRITES; from += 1) {
        const stage = await Stage.make();
        const gate = new Gate(from, refusal);
        // A heartbeat immediately after its wait was opened needs no write.
        stage.installation.world.clock.jump(1);
        const before = stage.image();
        const first = await asked(stage, route, gate);
        if (!gate.hasRefused) break;
        points += 1;
        const where = `write ${from}: ${first.text}`;
        if (from === 0) expect([where, changed(before, stage.image())]).toEqual([where, []]);
        if (first.status >= 400) {
          expect([where, first.code]).toEqual([where, refusal.code]);
          expect(first.text).not.toContain('a text of the store');
        }
        gate.heal();
        // A request that could not record its failure leaves its lock.
        stage.installation.world.clock.jump(PROCESSING_LOCK_MS);
        const again = await asked(stage, route, gate);
        const isGone = route === GONE && from > 1 && again.status === 404;
        expect([where, again.text, isGone || [200, TABLE[route].status].includes(again.status)]).toEqual([
          where,
          again.text,
          true,
        ]);
      }
      expect(points).toBeGreaterThan(0);
      expect(points).toBeLessThan(MAX_WRITES);
    },
  );
});

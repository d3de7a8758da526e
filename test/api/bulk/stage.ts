/** An installation whose runs fail, ask or wait, and a client that changes many of them. */
import { z } from 'zod';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Fatal } from '../../../packages/cairn/src/index.ts';
import type { Role } from '../../../packages/cairn/src/ports/access/client-store.ts';
import { Installation } from '../installation.ts';

export interface Result {
  readonly runId: string;
  readonly stepId?: string;
  readonly waitId?: string;
  readonly outcome: 'done' | 'possible' | 'failed' | 'retry';
  readonly answer?: { readonly runId?: string; readonly status?: string };
  readonly would?: { readonly would: string; readonly stepsReused?: number };
  readonly problem?: { readonly code: string; readonly detail: string };
}

export interface Report {
  readonly counts: Readonly<Record<Result['outcome'], number>>;
  readonly results: readonly Result[];
  readonly next?: string;
}

const order = defineWorkflow({
  type: 'order',
  planVersion: 1,
  input: z.object({ fails: z.boolean().default(true) }),
  steps(step) {
    const made = step('make', () => 1);
    return {
      paid: step('pay', { needs: { made } }, ({ input }) => {
        if (input.fails) throw new Fatal('the bank is down');
        return 'paid';
      }),
    };
  },
});
const asking = defineWorkflow({
  type: 'asking',
  planVersion: 1,
  input: z.object({ second: z.boolean().default(false), amount: z.number().optional() }),
  tags: ({ amount }) => ({ amount }),
  steps(step) {
    const first = step.approval('first', { ask: () => 'Go?' });
    return {
      first,
      second: step.approval('second', {
        needs: { first },
        when: ({ input }) => input.second,
        ask: () => 'And now?',
      }),
    };
  },
});
const twice = defineWorkflow({
  type: 'twice',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({
    left: step.approval('left', { ask: () => 'Left?' }),
    right: step.approval('right', { ask: () => 'Right?' }),
  }),
});

export class BulkStage {
  readonly installation = new Installation([order, asking, twice]);

  /** A key with this role in this tenant. */
  key(role: Role, tenantId = 'acme'): Promise<string> {
    return this.installation.key(`${role}-${tenantId}`, { roles: [role], tenantId });
  }

  async start(type: string, input: object = {}, tenantId = 'acme'): Promise<string> {
    const answer = await this.installation.post(await this.key('operator', tenantId), { type, input });
    return ((await answer.json()) as { runId: string }).runId;
  }

  async starts(type: string, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < count; i += 1) ids.push(await this.start(type));
    return ids;
  }

  /** Advances until each run has ended or asks. Any later, idempotency records would expire. */
  drive(): Promise<void> {
    const { db } = this.installation.world;
    const isMoving = ({ status }: { readonly status: string }) =>
      status === 'pending' || status === 'running';
    return this.installation.world.run(() =>
      [...db.runs.values()].every(({ snapshot }) => !isMoving(snapshot)),
    );
  }

  async send(body: object, headers: Readonly<Record<string, string>> = {}, key?: string): Promise<Response> {
    return this.installation.api.request('/v1/runs/bulk', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        authorization: `Bearer ${key ?? (await this.key('operator'))}`,
        'content-type': 'application/json',
        ...headers,
      },
    });
  }

  async report(body: object, headers: Readonly<Record<string, string>> = {}): Promise<Report> {
    const answer = await this.send(body, headers);
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(text);
    return JSON.parse(text) as Report;
  }

  statusOf(id: string): string | undefined {
    return this.installation.world.db.runs.get(id)?.snapshot.status;
  }

  /** Successors of the run. */
  madeFrom(id: string): number {
    const { runs } = this.installation.world.db;
    return [...runs.values()].filter(({ snapshot }) => snapshot.source?.runId === id).length;
  }

  /** Reads of the run get no response until the returned function is called. */
  lose(id: string): () => void {
    const { store } = this.installation.world;
    const { load } = store;
    store.load = (runId, tenantId) =>
      runId === id
        ? Promise.reject(new CairnError('UNAVAILABLE', 'the store did not respond in time'))
        : load.call(store, runId, tenantId);
    return () => {
      store.load = load;
    };
  }
}

/** Runs that ended while a call of theirs had no response, and the operators, for tests of effects in doubt. */
import { expect } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { MemoryRunFinder } from '../../../packages/cairn/src/memory/memory-run-finder.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import type { ResolveRequest } from '../../../packages/cairn/src/operations/effects/resolution.ts';
import { resolveEffect } from '../../../packages/cairn/src/operations/effects/resolve-effect.ts';
import { MAX_QUESTIONS_OF_RUN, readInbox } from '../../../packages/cairn/src/operations/inbox/read-inbox.ts';
import { checkConsistency } from '../../../packages/cairn/src/operations/integrity/check.ts';
import { MemoryIntegrityStore } from '../../support/memory/memory-integrity-store.ts';
import { Outside, type OutsideOptions } from '../../support/outside.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';

export class Left {
  readonly outside: Outside;
  readonly world: World;
  runId = '';

  constructor(options: OutsideOptions = {}) {
    const outside = new Outside(options);
    this.outside = outside;
    const { capability } = outside;
    const post = defineWorkflow({
      type: 'post',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        sent: step('send', { uses: [capability], retry: { initialMs: 1 } }, ({ perform }) =>
          perform(capability, { text: 'hello' }),
        ),
      }),
    });
    // A person sends the text back while it is being sent. The outcome of the first call is never known.
    const reviewed = defineWorkflow({
      type: 'reviewed',
      planVersion: 1,
      input: z.object({}),
      steps(step) {
        const text = step('text', {}, ({ revision }) => `text ${revision}`);
        const gate = step.approval('gate', {
          needs: { text },
          timeout: '1h',
          ask: () => ({ question: '?' }),
        });
        const sent = step('send', { needs: { text }, uses: [capability] }, ({ text, perform }) =>
          perform(capability, { text }),
        );
        return { gate, sent };
      },
    });
    const many = defineWorkflow({
      type: 'many',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        each: step.map(
          'each',
          {
            over: () => Array.from({ length: MAX_QUESTIONS_OF_RUN + 2 }, (_, i) => i),
            concurrency: 64,
            uses: [capability],
          },
          ({ item, perform }) => perform(capability, { text: `${item}` }),
        ),
      }),
    });
    this.world = new World({ workflows: [post, reviewed, many], bindings: [outside.binding] });
  }

  /** Cancelled while its calls had no response. */
  static async cancelled(options: OutsideOptions = {}, type = 'post', calls = 1): Promise<Left> {
    const left = new Left(options);
    await left.begun(type, calls);
    await left.cancel(left.runId);
    return left;
  }

  /** Completed: a person sent steps back, and the call of the old revision was given up. */
  static async completed(options: OutsideOptions = {}): Promise<Left> {
    const left = new Left(options);
    const { world } = left;
    await left.begun('reviewed', 1);
    const said = { runId: left.runId, tenantId: 't1', stepId: 'gate', actor: 'c.ann' };
    await decideApproval(world.deps, { ...said, decision: 'retry_with_feedback', feedback: 'shorter' });
    await world.run(() => world.stateOf(left.runId).waits.some(({ id }) => id.startsWith('gate.2')));
    await decideApproval(world.deps, { ...said, decision: 'approve' });
    await world.run();
    return left;
  }

  /** Its dispatch is in progress, and this many calls have no response. */
  async begun(type: string, calls: number): Promise<void> {
    const { world, outside } = this;
    for (let i = 0; i < calls; i += 1) outside.faults.push('hang');
    this.runId = await world.start(type);
    for (const task of world.queue.due(world.clock.now())) world.queue.take(task.id);
    void drive(world.deps, { runId: this.runId });
    await settle();
    expect(outside.calls).toBe(calls);
  }

  async cancel(runId: string): Promise<void> {
    await cancelRun(this.world.deps, { runId, tenantId: 't1', actor: 'c.ann', stopKind: 'user' });
    await this.world.run();
  }

  get state() {
    return this.world.stateOf(this.runId);
  }

  /** Row of the first call. */
  get row() {
    const [first] = [...this.world.db.effects.values()];
    if (!first) throw new Error('nothing was called');
    return first.record;
  }

  resolve(said: Partial<ResolveRequest> = {}, deps = this.world.deps) {
    const { runId, row } = this;
    const request = {
      runId,
      tenantId: 't1',
      effectId: row.effectId,
      outcome: 'recorded' as const,
      actor: 'c.ann',
      ...(said.outcome === undefined ? { result: { id: 7 } } : {}),
    };
    return resolveEffect(deps, { ...request, ...said });
  }

  /** The runs in the inbox, and the accepted answers to their first questions. */
  async inbox(): Promise<{ runs: readonly string[]; answers: readonly string[]; found: number }> {
    const { deps, db } = this.world;
    const finder = new MemoryRunFinder(db);
    const { items } = await readInbox({ ...deps, finder }, 't1', { limit: 10 });
    return {
      runs: items.map(({ run }) => run.id),
      answers: items.flatMap(({ questions }) => questions[0]?.answers ?? []),
      found: (await finder.asking('t1', { limit: 10 })).items.length,
    };
  }

  async problems(runId = this.runId): Promise<string[]> {
    const { db, clock, deps, store } = this.world;
    const check = { clock, random: deps.random, reader: new MemoryIntegrityStore(db), payloads: store };
    const { problems } = await checkConsistency(check, { runId, tenantId: 't1' });
    return problems.map(({ code }) => code);
  }

  async untilAsked(runId: string): Promise<void> {
    await this.world.run(() => this.world.stateOf(runId).status === 'awaiting_approval');
  }
}

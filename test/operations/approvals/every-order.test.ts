import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import type { DecideRequest } from '../../../packages/cairn/src/operations/approvals/request.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { type Choice, type Execution, explore } from '../../support/explorer.ts';
import { Actor, type Answer } from '../../support/race/actor.ts';
import { EVERY_ORDER } from '../../support/race/size.ts';
import { assertSnapshot, assertStored } from '../../support/soundness.ts';
import { HOUR_MS, Scene } from './scene.ts';

type Kind = 'approve' | 'reject' | 'cancel' | 'drive';

interface Case {
  readonly kinds: readonly Kind[];
  /** Number of store responses that may be lost. */
  readonly lostAnswers: number;
}

/** A millisecond before its deadline, some answer a question while others cancel or dispatch the run. */
class Race implements Execution {
  readonly #scene: Scene;
  readonly #kinds: readonly Kind[];
  readonly #actors: readonly Actor[];
  /** Ends of the question in all schedules so far. */
  readonly #ends: Set<string>;
  #lostAnswers: number;
  #isLate = false;

  constructor(scene: Scene, { kinds, lostAnswers }: Case, ends: Set<string>) {
    this.#scene = scene;
    this.#lostAnswers = lostAnswers;
    this.#kinds = kinds;
    this.#ends = ends;
    this.#actors = kinds.map((kind, i) => {
      const actor = new Actor(`${kind} ${i}`, scene.world.deps, { outside: false, beats: false });
      actor.begin(kind === 'drive' ? ['OutcomeUnknown'] : [], (deps) =>
        work(kind, deps, scene.request('approve')),
      );
      return actor;
    });
  }

  choices(): readonly Choice[] {
    const alone = this.#actors.find(({ waiting }) => waiting.some((call) => call.private));
    const moves = (alone ? [alone] : this.#actors).flatMap((actor) => this.#movesOf(actor));
    const passes = { label: 'the deadline passes', take: () => this.#pass() };
    return alone || this.#isLate || moves.length === 0 ? moves : [...moves, passes];
  }

  #movesOf(actor: Actor): Choice[] {
    return actor.waiting
      .filter(({ kind }) => kind !== 'beat')
      .flatMap((call) => {
        const answers: Answer[] = ['told'];
        if (call.kind === 'write' && this.#lostAnswers > 0) answers.push('lost_after');
        return answers.map((answer) => ({
          label: `${actor.name} ${call.label} ${answer}`,
          take: () => {
            if (answer !== 'told') this.#lostAnswers -= 1;
            call.pass(answer);
          },
        }));
      });
  }

  #pass(): void {
    this.#isLate = true;
    this.#scene.world.clock.jump(1);
  }

  key(): string {
    const { db, queue } = this.#scene.world;
    const run = db.runs.get(this.#scene.runId);
    const tasks = queue.pending.map(({ id: _, ...task }) => JSON.stringify(task)).sort();
    const parts = [
      run?.events.at(-1)?.hash,
      run?.snapshot.headHash,
      run?.wakeAt,
      tasks,
      this.#isLate,
      this.#lostAnswers,
    ];
    return hash([parts, this.#actors.map(({ key }) => key)]);
  }

  check(): void {
    for (const { failure } of this.#actors) if (failure !== undefined) throw failure;
    const run = this.#scene.world.db.runs.get(this.#scene.runId);
    if (run) assertSnapshot(run);
  }

  async finish(): Promise<void> {
    const { world, runId } = this.#scene;
    const { events } = this.#scene.world.db.runs.get(runId) ?? { events: [] };
    assertStored(world.db, runId);
    const ends = events.filter(({ type }) => type === 'wait_resolved' || type === 'wait_expired');
    if (ends.length > 1) throw new Error(`the question ended ${ends.length} times`);
    const [end] = ends;
    const decision = end?.type === 'wait_resolved' ? end.data.decision : undefined;
    const isCancelled = events.some(({ type }) => type === 'run_cancelled');
    this.#actors.forEach(({ outcome = '' }, i) => {
      const kind = this.#kinds[i];
      if (kind !== 'approve' && kind !== 'reject') return;
      const expected = (() => {
        switch (outcome) {
          case 'decided':
            return decision === kind;
          case 'APPROVAL_DECIDED':
            return decision !== undefined && decision !== kind;
          case 'APPROVAL_EXPIRED':
            // Whatever the outcome of the question is, an answer in time may have been on its way.
            return this.#isLate;
          default:
            return outcome === 'RUN_TERMINAL_STATE' && isCancelled && decision === undefined;
        }
      })();
      if (!expected)
        throw new Error(`${kind} was told ${outcome}; the question ended as ${decision ?? end?.type}`);
    });
    this.#ends.add(decision ?? end?.type ?? (isCancelled ? 'run_cancelled' : 'open'));
  }
}

async function work(kind: Kind, deps: Scene['world']['deps'], request: DecideRequest): Promise<string> {
  if (kind === 'drive') return drive(deps, request);
  try {
    if (kind === 'cancel') await cancelRun(deps, { runId: request.runId, tenantId: 't1', stopKind: 'user' });
    else await decideApproval(deps, { ...request, decision: kind, actor: `c.${kind}` });
    return 'decided';
  } catch (error) {
    if (error instanceof CairnError && error.httpStatus < 500) return error.code;
    throw error;
  }
}

function hash(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

describe('every order of concurrent decisions, with the deadline at any point between them:', () => {
  test.each<[string, Case & { readonly ends: string[] }]>([
    [
      'two people who disagree, one answer lost',
      { kinds: ['approve', 'reject'], lostAnswers: 1, ends: ['approve', 'open', 'reject'] },
    ],
    [
      'two people who agree, one answer lost',
      { kinds: ['approve', 'approve'], lostAnswers: 1, ends: ['approve', 'open'] },
    ],
    [
      `two people and a cancel${EVERY_ORDER ? ', one answer lost' : ''}`,
      {
        kinds: ['approve', 'reject', 'cancel'],
        lostAnswers: EVERY_ORDER ? 1 : 0,
        ends: ['approve', 'reject', 'run_cancelled'],
      },
    ],
    [
      'a person and a dispatch after the deadline, one answer lost',
      { kinds: ['approve', 'drive'], lostAnswers: 1, ends: ['approve', 'open', 'wait_expired'] },
    ],
    [
      'two people and a dispatch after the deadline',
      {
        kinds: ['approve', 'reject', 'drive'],
        lostAnswers: 0,
        ends: ['approve', 'open', 'reject', 'wait_expired'],
      },
    ],
  ])('%s: one counts, and every caller receives it', async (_, race) => {
    const seen = new Set<string>();
    const { schedules } = await explore(async () => {
      const scene = await Scene.asking();
      scene.tasks();
      scene.world.clock.jump(HOUR_MS - 1);
      return new Race(scene, race, seen);
    });
    expect([...seen].sort()).toEqual(race.ends);
    // A smaller number means that some orders are no longer explored.
    expect(schedules).toBeGreaterThan(race.kinds.length > 2 ? 400n : 20n);
  });
});

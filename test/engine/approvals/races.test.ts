import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import type { RunEvent } from '../../../packages/cairn/src/core/run/events.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import type {
  ApprovalDecided,
  DecideRequest,
} from '../../../packages/cairn/src/operations/approvals/request.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import type { JournalCommit } from '../../../packages/cairn/src/ports/run-store.ts';
import { scan } from '../../../packages/cairn/src/recovery/scan.ts';
import { intercept, never } from '../../support/intercept.ts';
import { mortal } from '../../support/mortal.ts';
import { Shuffle } from '../../support/shuffle.ts';
import { assertStored } from '../../support/soundness.ts';
import { settle } from '../../support/virtual-clock.ts';
import { seededRandomness, World } from '../../support/world.ts';

const SEEDS = Array.from({ length: Number(process.env.RACES ?? 20) }, (_, i) => i + 1);
const LOSS_RATE = 0.08;

interface Race {
  readonly works: readonly Work[];
  /** State of the run at the beginning; default `asked`. */
  readonly from?: 'new' | 'asked' | 'driver died';
  /** A millisecond before the deadline. */
  readonly late?: true;
  /** True if the draft has a compensation. */
  readonly undo?: true;
}

interface Place {
  readonly deps: EngineDeps;
  readonly runId: string;
  /** Lets the deadline pass, at a moment that the schedule chooses. */
  readonly passDeadline: () => Promise<void>;
}

interface Work {
  readonly said?: Pick<DecideRequest, 'decision' | 'note' | 'feedback'>;
  readonly go: (place: Place) => Promise<unknown>;
}

/** The answer of a person who sees the first question. */
function says(actor: string, decision: DecideRequest['decision'], more: Partial<DecideRequest> = {}): Work {
  const said = { decision, ...more };
  const about = { tenantId: 't1', stepId: 'gate', waitId: 'gate.1', actor };
  return { said, go: ({ deps, runId }) => decideApproval(deps, { runId, ...about, ...said }) };
}

const cancels: Work = {
  go: ({ deps, runId }) => cancelRun(deps, { runId, tenantId: 't1', actor: 'c.eve', stopKind: 'user' }),
};
const drives: Work = { go: ({ deps, runId }) => drive(deps, { runId }) };
const scans: Work = { go: ({ deps }) => scan(deps) };
const timesOut: Work = {
  go: async ({ deps, runId, passDeadline }) => {
    await passDeadline();
    return drive(deps, { runId });
  },
};

interface Finish {
  readonly world: World;
  readonly state: RunState;
  readonly events: readonly RunEvent[];
  readonly outcomes: readonly PromiseSettledResult<unknown>[];
  readonly bodies: ReadonlyMap<string, number>;
}

function gated(undo: boolean, ran: (what: string) => void) {
  return defineWorkflow({
    type: 'gated',
    planVersion: 1,
    input: z.unknown(),
    steps(step) {
      const options = undo ? { compensate: () => ran('undo') } : {};
      const draft = step('draft', options, ({ revision }) => {
        ran(`draft ${revision}`);
        return revision;
      });
      const gate = step.approval('gate', { needs: { draft }, timeout: '1h', ask: () => '?' });
      const after = step('after', { needs: { draft, gate } }, ({ draft }) => {
        ran('after');
        return draft;
      });
      return { after };
    },
  });
}

async function raced(race: Race, seed: number): Promise<Finish> {
  const bodies = new Map<string, number>();
  const workflow = gated(race.undo === true, (what) => bodies.set(what, (bodies.get(what) ?? 0) + 1));
  const world = new World({ workflows: [workflow], seed });
  const { clock, deps, db } = world;
  const runId = await world.start('gated');
  await bring(world, runId, race);
  const shuffle = new Shuffle({ seed, clock, lossRate: LOSS_RATE });
  const { passDeadline } = shuffle.gate({ passDeadline: async () => clock.jump(1) });
  // The schedule decides when the deadline passes. A lost answer of this call has no meaning.
  const pass = () => passDeadline().catch(() => {});
  const outcomes = await shuffle.run(
    race.works.map(({ go }, i) => {
      const own = { ...deps, store: shuffle.gate(deps.store), random: seededRandomness(seed * 100 + i) };
      return go({ deps: own, runId, passDeadline: pass });
    }),
  );
  assertStored(db, runId, clock.now() + 60_000);
  // After feedback the next question is open. Its answer does not matter here.
  await world.run(() => db.runs.get(runId)?.snapshot.waits.some(({ id }) => id === 'gate.2') ?? false);
  const state = assertStored(db, runId, Number.POSITIVE_INFINITY);
  return { world, state, outcomes, bodies, events: await world.store.readEvents(runId, 0, 1_000) };
}

async function bring(world: World, runId: string, { from = 'asked', late }: Race): Promise<void> {
  const { clock, db, queue, deps } = world;
  const state = () => db.runs.get(runId)?.snapshot;
  if (from === 'asked') await world.run(() => state()?.status === 'awaiting_approval');
  if (from === 'driver died') {
    // The process stops once the question is open.
    const process = mortal(deps, 99);
    const store = intercept(process.deps.store, async ({ method, args }, proceed) => {
      const answer = await proceed();
      const asks =
        method === 'commit' && (args[0] as JournalCommit).events.some(({ type }) => type === 'wait_opened');
      if (asks) process.kill();
      return asks ? never() : answer;
    });
    void drive({ ...process.deps, store }, { runId });
    await settle();
    expect(state()?.waits).toHaveLength(1);
    clock.jump(deps.settings.leaseMs + 1);
  }
  for (const { id } of queue.pending) queue.take(id);
  const dueAt = state()?.waits[0]?.dueAt;
  if (late && dueAt !== undefined) clock.jump(dueAt - 1 - clock.now());
}

/** Checks every race: one answer counts, every caller learns which, and the run continues accordingly. */
function assertHonest({ state, events, outcomes, bodies }: Finish, { works, from }: Race): string {
  const ends = events.filter(
    ({ type, data }) =>
      (type === 'wait_resolved' || type === 'wait_expired') &&
      (data as { waitId: string }).waitId === 'gate.1',
  );
  expect(ends.length).toBeLessThanOrEqual(1);
  const [end] = ends;
  const decided = end?.type === 'wait_resolved' ? end.data : undefined;
  works.forEach(({ said }, i) => {
    const outcome = outcomes[i];
    if (!said || !outcome) return;
    if (outcome.status === 'fulfilled') {
      const answer = outcome.value as ApprovalDecided;
      expect(decided).toMatchObject({ decision: said.decision });
      expect(JSON.parse(decided?.payloadText ?? '')).toEqual({
        ...(said.note === undefined ? {} : { note: said.note }),
        ...(said.feedback === undefined ? {} : { feedback: said.feedback }),
      });
      expect(answer).toMatchObject({ waitId: 'gate.1', decidedBy: end?.actor, decidedAt: end?.at });
      return;
    }
    if (!(outcome.reason instanceof CairnError)) throw outcome.reason;
    const { code, details } = outcome.reason;
    if (code === 'APPROVAL_DECIDED') {
      expect(details).toMatchObject({ decision: decided?.decision, decidedBy: end?.actor });
      expect(said).not.toEqual({ decision: decided?.decision, ...JSON.parse(decided?.payloadText ?? '{}') });
    } else if (code === 'APPROVAL_EXPIRED') {
      // Either nobody decided, or a decision was in time although its commit came later.
      expect(end?.type === 'wait_expired' || (end?.at ?? 0) < deadlineOf(events)).toBe(true);
    } else if (code === 'RUN_TERMINAL_STATE' || code === 'RUN_INVALID_TRANSITION')
      expect(state.status).toBe('cancelled');
    else expect(from === 'new' ? ['UNAVAILABLE', 'NOT_FOUND'] : ['UNAVAILABLE']).toContain(code);
  });
  for (const [what, times] of bodies) expect([what, times]).toEqual([what, 1]);
  const what = decided?.decision ?? (end ? 'expired' : 'undecided');
  const may = [LEADS_TO[what], ...(works.includes(cancels) ? ['cancelled'] : [])];
  expect(may).toContain(state.status);
  if (what === 'halt') expect(state.stopKind).toMatch(/halt|user/);
  return what === 'undecided' ? state.status : what;
}

function deadlineOf(events: readonly RunEvent[]): number {
  const opened = events.find((event) => event.type === 'wait_opened');
  return opened?.data.wait.dueAt ?? 0;
}

/** Status of a run after the question ended this way, unless it is cancelled. */
const LEADS_TO: Readonly<Record<string, string>> = {
  approve: 'completed',
  reject: 'failed',
  halt: 'cancelled',
  retry_with_feedback: 'awaiting_approval',
  expired: 'failed',
};

const RACES: readonly (Race & { readonly claim: string; readonly ends: readonly string[] })[] = [
  {
    claim: 'two people decide differently: one counts, the other is told which',
    works: [says('c.ada', 'approve'), says('c.bob', 'reject')],
    ends: ['approve', 'reject'],
  },
  {
    claim: 'two people decide alike: both are told the same',
    works: [says('c.ada', 'approve', { note: 'ok' }), says('c.bob', 'approve', { note: 'ok' })],
    ends: ['approve'],
  },
  {
    claim: 'the same feedback twice sends back once',
    works: [
      says('c.ada', 'retry_with_feedback', { feedback: 'no' }),
      says('c.ada', 'retry_with_feedback', { feedback: 'no' }),
      drives,
    ],
    ends: ['retry_with_feedback'],
  },
  {
    claim: 'feedback and an approval',
    works: [says('c.ada', 'retry_with_feedback', { feedback: 'no' }), says('c.bob', 'approve'), drives],
    ends: ['approve', 'retry_with_feedback'],
  },
  {
    claim: 'a halt and a rejection, while two tasks are delivered',
    works: [says('c.ada', 'halt'), says('c.bob', 'reject'), drives, drives],
    undo: true,
    ends: ['halt', 'reject'],
  },
  {
    claim: 'a decision and its deadline',
    works: [says('c.ada', 'approve'), timesOut],
    late: true,
    ends: ['approve', 'expired'],
  },
  {
    claim: 'two decisions, their deadline and the scan',
    works: [
      says('c.ada', 'approve'),
      says('c.bob', 'retry_with_feedback', { feedback: 'no' }),
      timesOut,
      scans,
    ],
    late: true,
    ends: ['approve', 'expired', 'retry_with_feedback'],
  },
  {
    claim: 'a decision and a cancel: what is decided after it is refused',
    works: [says('c.ada', 'approve'), cancels],
    ends: ['approve', 'cancelled'],
  },
  {
    claim: 'a halt and a cancel: the run is undone and cancelled once',
    works: [says('c.ada', 'halt'), cancels, drives],
    undo: true,
    ends: ['cancelled', 'halt'],
  },
  {
    claim: 'two decisions on a run that is only just beginning',
    from: 'new',
    works: [drives, says('c.ada', 'approve'), says('c.bob', 'reject')],
    // Both decisions may be refused, because no question was open yet.
    ends: ['approve', 'expired', 'reject'],
  },
  {
    claim: 'two decisions on a run whose driver died after it had asked, and its recovery',
    from: 'driver died',
    works: [scans, drives, says('c.ada', 'approve'), says('c.bob', 'halt')],
    ends: ['approve', 'halt'],
  },
];

describe('racing decisions with lost acknowledgements:', () => {
  test.each(RACES)('$claim', async ({ claim: _, ends, ...race }) => {
    const seen = new Set<string>();
    for (const seed of SEEDS) {
      const finish = await raced(race, seed);
      try {
        seen.add(assertHonest(finish, race));
      } catch (error) {
        const types = finish.events.map(({ type }) => type).join(' ');
        throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}\n${types}`);
      }
    }
    // A race must be able to end in each of these ways.
    expect([...seen].sort()).toEqual([...ends].sort());
  });
});

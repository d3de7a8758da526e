/**
 * Every dimension of docs/limits.md and docs/scale.md that affects the documents of a run, at zero, half and maximum. Firestore accepts
 * each document as encoded by the real codecs, and a cancel ends the run.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { MAX_KEPT_FEEDBACK_BYTES } from '../../../packages/cairn/src/core/decisions/approval.ts';
import { MAX_SENT_BACK } from '../../../packages/cairn/src/core/decisions/compensation.ts';
import { MAX_STEPS } from '../../../packages/cairn/src/core/graph/graph.ts';
import { boundedDraft, grouped } from '../../../packages/cairn/src/core/run/bounded.ts';
import {
  MAX_UNREAD_BYTES,
  MAX_UNREAD_SIGNALS,
} from '../../../packages/cairn/src/core/run/data/unread-signals.ts';
import type { EventDraft, RunEvent, StepSettled, Wait } from '../../../packages/cairn/src/core/run/events.ts';
import {
  CHECKPOINT_VALUE_BYTES,
  MAX_ITEMS,
  MAX_OPEN_EFFECTS,
  MAX_OPEN_WAITS_BYTES,
  MAX_REGISTRATIONS,
  SNAPSHOT_VALUE_BYTES,
} from '../../../packages/cairn/src/core/run/limits.ts';
import { checkpointOf, stepRecordOf } from '../../../packages/cairn/src/core/run/records.ts';
import { reduce } from '../../../packages/cairn/src/core/run/reduce/index.ts';
import type { RunState, VolatileMetadata } from '../../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { beginning, claim, T0 } from '../../conformance/support/run-fixture.ts';
import {
  asFirestoreTakes,
  MAX_BYTES,
  sizeOfCheckpoint,
  sizeOfEvent,
  sizeOfStep,
  sizesOfSnapshot,
} from '../../support/document-sizes.ts';
import { World } from '../../support/world.ts';

/** Share of the maximum. */
type Share = 0 | 0.5 | 1;

interface Drawn {
  readonly idChars: number;
  readonly text: (chars: number) => string;
  readonly steps: Share;
  readonly undos: Share;
  readonly sentBack: Share;
  readonly feedback: Share;
  readonly questions: Share;
  readonly effects: Share;
  readonly ties: Share;
  readonly decisions: Share;
  readonly unread: Share;
}

const DIMENSIONS = [
  'steps',
  'undos',
  'sentBack',
  'feedback',
  'questions',
  'effects',
  'ties',
  'decisions',
  'unread',
] as const;
/** Control characters, which take six bytes in JSON, and twelve in JSON within JSON. */
const ESCAPED = (chars: number) => '\u0001'.repeat(chars);
const CJK = (chars: number) => '界'.repeat(chars);
const TEXTS = [ESCAPED, CJK, (chars: number) => '"'.repeat(chars)];

const share = fc.constantFrom<Share>(0, 0.5, 1);
const drawn: fc.Arbitrary<Drawn> = fc.record({
  idChars: fc.constantFrom(1, 50, 100),
  text: fc.constantFrom(...TEXTS),
  ...(Object.fromEntries(DIMENSIONS.map((name) => [name, share])) as Record<
    (typeof DIMENSIONS)[number],
    fc.Arbitrary<Share>
  >),
});
const all = (of: Share, text: Drawn['text']): Drawn => ({
  idChars: of === 0 ? 1 : 100 * of,
  text,
  ...(Object.fromEntries(DIMENSIONS.map((name) => [name, of])) as Record<(typeof DIMENSIONS)[number], Share>),
});

/** Measured documents per type of event, more than one decision about all steps writes. */
const SAMPLES = 10;

/** Folds drafts, and records the largest document beside the snapshot. Computes no hashes, because these do not affect sizes. */
class Folding {
  state: RunState;
  largest = 0;
  readonly #measured = new Map<string, number>();

  constructor(state: RunState) {
    this.state = state;
  }

  add(wanted: EventDraft): void {
    const draft = boundedDraft(wanted);
    const { state } = this;
    const { outputText, effect: _, ...rest } = draft;
    const chained = { seq: state.head + 1, id: 'e'.repeat(26), at: T0, schemaVersion: 1 };
    const writer = { owner: 'o'.repeat(40), epoch: 1 };
    const hashes = { prevHash: 'h'.repeat(64), hash: 'h'.repeat(64) };
    const event = { ...rest, ...chained, ...hashes, writer } as RunEvent;
    const measured = this.#measured.get(event.type) ?? 0;
    // Documents of one type differ in content, not in size.
    if (measured < SAMPLES) this.#measure(event, outputText);
    this.#measured.set(event.type, measured + 1);
    this.state = reduce(state, event);
  }

  #measure(event: RunEvent, outputText: string | undefined): void {
    const checkpoint = checkpointOf(event, this.state, outputText === undefined ? {} : { outputText });
    const step = stepRecordOf(event, 1);
    const beside = [checkpoint ? sizeOfCheckpoint(checkpoint) : 0, step ? sizeOfStep(step) : 0];
    this.largest = Math.max(this.largest, sizeOfEvent(event), ...beside);
  }
}

const actor = 'u'.repeat(255);

function wide({ idChars, text, ...of }: Drawn): Folding {
  const start = beginning('run_1', {
    identity: { input: { text: JSON.stringify('i'.repeat(SNAPSHOT_VALUE_BYTES - 2)) } },
  });
  const folding = new Folding(start.state);
  const add = (type: string, data: object, more: object = {}) =>
    folding.add({ type, initiator: 'system', data, ...more } as EventDraft);
  for (const draft of claim(start.state, T0 + 1_000)) folding.add(draft);
  const idOf = (name: string) => name.padEnd(idChars, 'x').slice(0, Math.max(idChars, name.length));
  const error = { code: 'STEP_FAILED', message: text(4_000), trace: text(4_000), retryable: true };
  const output = JSON.stringify('o'.repeat(CHECKPOINT_VALUE_BYTES - 2));

  const settled = (stepId: string, itemKey?: string): StepSettled => ({
    stepId,
    ...(itemKey === undefined ? {} : { itemKey }),
    revision: 1,
    kind: 'map',
    attempt: 1,
    inputsHash: 'h'.repeat(64),
    startedAt: T0,
    outputHash: 'h'.repeat(64),
    outputsSummary: text(240),
    resumable: true,
    idempotent: true,
    durationMs: 1,
    agent: text(200),
  });
  const execution = (stepId: string) => ({
    stepId,
    revision: 1,
    kind: 'approval' as const,
    attempt: 1,
    inputsHash: 'h'.repeat(64),
    startedAt: T0,
  });
  // Approvals and questions are steps as well.
  const askingSteps = MAX_STEPS / 10;
  const items = of.steps * (MAX_STEPS - 2 * askingSteps);
  const keys: [string, string][] = [];
  for (let i = 0; i < items; i += 1) {
    const key: [string, string] = [idOf(`m${Math.floor(i / MAX_ITEMS)}`), String(i % MAX_ITEMS)];
    keys.push(key);
    // One output of the maximum inline size of a checkpoint.
    add('step_succeeded', settled(...key), i === 0 ? { outputText: output } : { outputText: '1' });
  }
  for (let i = 0; i < of.decisions * askingSteps; i += 1) {
    const wait = {
      id: `${idOf(`a${i}`)}.1`,
      kind: 'approval',
      execution: execution(idOf(`a${i}`)),
      openedAt: T0,
    };
    add('wait_opened', { wait: { ...wait, detailText: '{}' } });
    add('wait_resolved', { waitId: wait.id, decision: 'approve', payloadText: text(100) }, { actor });
  }
  for (let i = 0; i < of.ties * MAX_REGISTRATIONS; i += 1) {
    const id = `${idOf('e')}.${i}`;
    const execution = { ...settled(idOf('e')), kind: 'event', revision: i + 1 };
    add('wait_opened', {
      wait: { id, kind: 'event', execution, openedAt: T0, name: text(100), key: text(500) },
    });
    add('wait_expired', { waitId: id });
  }
  for (let i = 0; i < of.effects * MAX_OPEN_EFFECTS; i += 1) {
    const effectId = `${'f'.repeat(60)}${i}`;
    add('effect_attempted', {
      stepId: idOf('m0'),
      itemKey: '7',
      revision: 1,
      effectId,
      capabilityId: 'c'.repeat(100),
      attempt: 1,
    });
  }
  const longText = text(8_000 / Buffer.byteLength(text(1)));
  const rounds = Math.floor((of.feedback * MAX_KEPT_FEEDBACK_BYTES) / Buffer.byteLength(longText));
  const names = Array.from({ length: of.sentBack * MAX_STEPS }, (_, i) => idOf(`back${i}`));
  const undoable = keys.slice(0, of.sentBack * MAX_SENT_BACK).map(([id, item]) => `${id}[${item}]`);
  for (const [i, again] of grouped(names, (id) => id.length + 3).entries())
    add(
      'feedback_given',
      { waitId: 'w', steps: [], again, feedback: longText, ...(i === 0 ? { undoable } : {}) },
      { actor },
    );
  for (let i = 0; i < rounds; i += 1)
    add('feedback_given', { waitId: 'w', steps: [], again: [idOf(`f${i}`)], feedback: longText }, { actor });
  let bytes = 0;
  for (let i = 0; bytes < of.unread * MAX_UNREAD_BYTES && i < MAX_UNREAD_SIGNALS; i += 1) {
    const payloadText = JSON.stringify(text(16_000)).slice(0, 16_000);
    bytes += payloadText.length;
    add('signal_received', {
      signalId: `${'s'.repeat(250)}${i}`,
      name: text(100),
      key: text(500),
      payloadText,
    });
  }
  let open = 0;
  for (let i = 0; ; i += 1) {
    const detailText = JSON.stringify({ question: text(2_000) });
    const id = idOf(`q${i}`);
    const wait: Wait = {
      id: `${id}.1`,
      kind: 'approval',
      execution: execution(id),
      openedAt: T0,
      detailText,
    };
    open += Buffer.byteLength(JSON.stringify(wait));
    if (open > of.questions * MAX_OPEN_WAITS_BYTES) break;
    add('wait_opened', { wait });
  }
  add('step_failed', { ...settled(idOf('broken')), outputsSummary: '', error });
  if (of.undos > 0)
    add('compensation_started', { steps: keys.slice(0, 100).map(String), count: keys.length });
  for (const [stepId, itemKey] of keys.slice(0, of.undos * keys.length))
    add('compensation_failed', { stepId, itemKey, revision: 1, error });
  return folding;
}

const metadata: VolatileMetadata = {
  lastHeartbeatAt: T0,
  leaseExtendedTo: T0,
  publishedSeq: 1,
  inFlight: Array.from({ length: 64 }, (_, i) => ({
    step: `${'s'.repeat(100)}[${i}]`,
    detailsText: 'd'.repeat(1_024),
    at: T0,
  })),
  cost: { reads: 1, writes: 1, deletes: 1, tasks: 1 },
};

function assertFits(state: RunState): void {
  const { run, pages } = sizesOfSnapshot(state, metadata);
  expect(Math.max(run, ...pages)).toBeLessThan(MAX_BYTES);
}

const idle = defineWorkflow({
  type: 'idle',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ only: step('only', () => 1) }),
});

/** Sets the state of a run in a world, and cancels it. A run without a lease is read from its snapshot alone. */
async function cancelled({ steps, ...lists }: RunState): Promise<string | undefined> {
  const world = new World({ workflows: [idle] });
  const id = await world.start('idle');
  const run = world.db.runs.get(id);
  if (!run) throw new Error('there is no run');
  const { compensationLog, decisions, effects, sentBack, feedback, unread, received, waits } = lists;
  // Limited, because mailbox entries are removed one by one; crowded-lists.test.ts tests many.
  const ties = lists.ties.slice(0, 50);
  const grown = {
    steps,
    compensationLog,
    decisions,
    effects,
    ties,
    sentBack,
    feedback,
    unread,
    received,
    waits,
  };
  run.snapshot = { ...run.snapshot, ...grown };
  const { store } = asFirestoreTakes(world.store);
  const deps = { ...world.deps, store };
  await cancelRun(deps, { runId: id, tenantId: 't1', stopKind: 'user', actor, reason: '界'.repeat(1_000) });
  await world.run(undefined, deps);
  return world.db.runs.get(id)?.snapshot.status;
}

test('every document has room, and a cancel ends the run', async () => {
  await fc.assert(
    fc.asyncProperty(drawn, async (one) => {
      const { state, largest } = wide(one);
      expect(largest).toBeLessThan(MAX_BYTES);
      assertFits(state);
      const failing = new Folding(state);
      const { error } = state;
      failing.add({
        type: 'cancel_requested',
        initiator: 'user',
        actor,
        data: { stopKind: 'user', reason: one.text(1_000) },
      });
      assertFits(failing.state);
      if (error) failing.add({ type: 'run_failed', initiator: 'system', data: { error } });
      expect(failing.state.lastHandoff ?? []).toEqual(state.waits);
      assertFits(failing.state);
      expect(await cancelled(state)).toBe('cancelled');
    }),
    {
      numRuns: Number(process.env.DIMENSIONS ?? 3),
      examples: [[all(1, ESCAPED)], [all(1, CJK)], [all(0, CJK)]],
    },
  );
});

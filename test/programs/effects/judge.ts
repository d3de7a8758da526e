/**
 * Judges the side effects of a lineage by the receiver's own records: forbidden repetitions, repeated calls without permission,
 * and missing effects of completed steps. Throws an error that names the effect.
 */
import type { EffectRecord } from '../../../packages/cairn/src/core/effects/effect.ts';
import type { RunEvent } from '../../../packages/cairn/src/core/run/events.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import type { MemoryDatabase, RunDocuments } from '../../../packages/cairn/src/memory/memory-database.ts';
import { assertRows } from '../../support/ledger-rows.ts';
import { type BodyPlan, NATURES, type Program, type ProgramInput, type StepPlan, whatOf } from './plan.ts';
import type { Applied, Receiver } from './receiver.ts';

export interface Judged {
  readonly db: MemoryDatabase;
  readonly receiver: Receiver;
  readonly programs: ReadonlyMap<string, Program>;
  /** Repetitions that a person allowed because the policy asked: runs by action. */
  readonly allowed: ReadonlyMap<string, ReadonlySet<string>>;
  /** Runs in which a person had a step fail. */
  readonly failed: ReadonlySet<string>;
  readonly mayBeCancelled: boolean;
}

export function judge(judged: Judged): void {
  const { db, receiver } = judged;
  const rows = [...db.effects.values()].map(({ record }) => record);
  assertRows(db);
  assertOncePerKey(receiver);
  assertOncePerLineage(judged, rows);
  assertAsked(receiver, rows);
  assertConfirmed(receiver, rows);
  for (const run of db.runs.values()) {
    assertEnd(judged, run);
    assertDone(judged, run);
  }
}

/** A receiver never acts twice on a key if people answer truthfully. */
function assertOncePerKey({ applied }: Receiver): void {
  const keys = new Set<string>();
  for (const { key, what } of applied) {
    expect(!keys.has(key), `'${what}' was done twice under one key`);
    keys.add(key);
  }
}

/** A run may repeat an action of an earlier run only if the policy, or a person, allows it. */
function assertOncePerLineage({ db, receiver, allowed }: Judged, rows: readonly EffectRecord[]): void {
  const policies = new Map(rows.map((row) => [row.idempotencyKey, row.replayPolicy]));
  for (const group of Map.groupBy(receiver.applied, ({ what }) => what).values()) {
    for (const [i, later] of group.entries()) {
      for (const earlier of group.slice(0, i)) assertAllowed(db, { earlier, later });
    }
  }

  function assertAllowed(db: MemoryDatabase, { earlier, later }: { earlier: Applied; later: Applied }): void {
    if (!linesOf(db, later.runId).includes(earlier.runId)) return;
    const scope = scopeOf(db, later.runId);
    const again = `'${later.what}' was done by ${earlier.runId} and again by ${later.runId}`;
    expect(scope !== scopeOf(db, earlier.runId), `${again}, which goes on with it`);
    const policy = policies.get(later.key);
    if (policy === 'reexecute') return;
    expect(policy === 'require_human', `${again}, whatever the policy`);
    const runs = [...(allowed.get(later.what) ?? [])];
    expect(
      runs.some((runId) => scopeOf(db, runId) === scope),
      `${again}, and nobody allowed it`,
    );
  }
}

/** The run and all runs from which it was made, the nearest first. */
function linesOf(db: MemoryDatabase, runId: string): string[] {
  const line: string[] = [];
  for (let id: string | undefined = runId; id; id = db.runs.get(id)?.snapshot.source?.runId) line.push(id);
  return line;
}

/** The nearest replay or fork: the run itself, or the one that it resumes; otherwise its root. */
function scopeOf(db: MemoryDatabase, runId: string): string {
  const line = linesOf(db, runId);
  const scope = line.find((id) => (db.runs.get(id)?.snapshot.source?.mode ?? 'resume') !== 'resume');
  return scope ?? line.at(-1) ?? runId;
}

/** A receiver that does not dedupe is called again only after a refusal, a lookup without a result, or a person's answer. */
function assertAsked(receiver: Receiver, rows: readonly EffectRecord[]): void {
  for (const [key, ofKey] of Map.groupBy(rows, ({ idempotencyKey }) => idempotencyKey)) {
    const nature = NATURES[Number(ofKey[0]?.capabilityId.slice('outside.act'.length))];
    if (nature?.idempotency === 'required') continue;
    const words = ofKey.filter(
      ({ blockedBy, resolution }) =>
        blockedBy !== 'policy' &&
        blockedBy !== 'confirmation' &&
        resolution &&
        resolution.outcome !== 'recorded' &&
        isPerson(resolution.by),
    );
    const { sent, refused, missed } = receiver.countOf(key);
    const may = 1 + refused + missed + words.length;
    expect(sent <= may, `${ofKey[0]?.requestText} was called ${sent} times, with reason for ${may}`);
  }
}

/** Asserts that an action which requires a permission is not called before a person has given it. */
function assertConfirmed(receiver: Receiver, rows: readonly EffectRecord[]): void {
  for (const [key, ofKey] of Map.groupBy(rows, ({ idempotencyKey }) => idempotencyKey)) {
    const nature = NATURES[Number(ofKey[0]?.capabilityId.slice('outside.act'.length))];
    if (!nature?.requiresConfirmation || receiver.countOf(key).sent === 0) continue;
    const isConfirmed = ofKey.some(
      ({ resolution }) => resolution?.outcome === 're-execute' && isPerson(resolution.by),
    );
    expect(isConfirmed, `${ofKey[0]?.requestText} was called, and nobody had confirmed it`);
  }
}

function isPerson(by: string): boolean {
  return !by.startsWith('lookup');
}

const OWN_ENDS = new Set(['RUN_RESUME_FAILED', 'RUN_ORPHANED']);

/** A run ends badly only for a reason in its program, its faults or a person's answer. */
function assertEnd({ programs, failed, mayBeCancelled }: Judged, { snapshot }: RunDocuments): void {
  const { status, error, type, id, parent } = snapshot;
  if (status === 'completed') return;
  if (status === 'cancelled') {
    expect(mayBeCancelled || parent !== undefined, 'nobody cancelled the run');
    return;
  }
  expect(status === 'failed', `the run is ${status}`);
  if (OWN_ENDS.has(error?.code ?? '')) return;
  const plan = programs.get(type)?.steps.find((step) => step.id === error?.stepId?.split('[')[0]);
  if (!plan) throw new Error(`the run failed of no step: ${error?.code} ${error?.message}`);
  expect(
    plan.kind === 'child' || failed.has(id) || mayFail(plan, snapshot, error?.message ?? ''),
    `nothing explains that '${plan.id}' failed: ${error?.code} ${error?.message}`,
  );
}

function mayFail(plan: StepPlan, { source }: RunState, message: string): boolean {
  if (message.includes('is making this call')) return true;
  // The outcome of a step that must not run twice is then unknown.
  if (!plan.idempotent && message.includes('did not end within')) return true;
  return (
    !plan.patient ||
    plan.bodies.some(
      ({ actions, end }) =>
        (end === 'fatal' && source === undefined) ||
        actions.some(({ welcome }) => welcome === 'refused_for_good'),
    )
  );
}

/**
 * Asserts for every completed step that each effect took place once with the right request, or was refused and the body
 * tolerates that.
 */
function assertDone({ programs, receiver, db }: Judged, run: RunDocuments): void {
  const { snapshot, checkpoints, events } = run;
  const program = programs.get(snapshot.type);
  const input = inputOf(snapshot);
  for (const event of events) {
    const isUndone = event.type === 'step_compensated';
    if (event.type !== 'step_succeeded' && !isUndone) continue;
    const { stepId, itemKey, revision } = event.data;
    const plan = program?.steps.find(({ id }) => id === stepId);
    if (!plan || plan.kind === 'child' || (plan.kind === 'map' && itemKey === undefined)) continue;
    const body = isUndone ? plan.compensate : plan.bodies[Number(itemKey ?? 0)];
    if (!body) throw new Error(`nothing is planned for '${stepId}'`);
    const index = itemKey === undefined ? undefined : Number(itemKey);
    const place = { path: input.path, stepId, index, revision, undo: isUndone };
    const serials = isUndone ? undefined : serialsIn(checkpoints.get(event.seq)?.outputText);
    for (const [i, action] of body.actions.entries()) {
      const what = whatOf(place, i, action, input.salt);
      if (serials && body.order !== 'unawaited') assertReal(receiver, { serial: serials[i], what, body, i });
      const mayMiss = action.welcome !== 'taken' && (body.swallows || body.order === 'unawaited');
      const line = linesOf(db, snapshot.id);
      const isDone = receiver.applied.some((one) => one.what === what && isOfLine(db, one, line));
      expect(mayMiss || isDone, `${event.type} of '${what}', which was never done`);
    }
  }
}

/**
 * True if the action belongs to the run, an earlier one, or another of the same lineage: replays share actions that no run had
 * made.
 */
function isOfLine(db: MemoryDatabase, { runId }: Applied, line: readonly string[]): boolean {
  return line.includes(runId) || linesOf(db, runId).at(-1) === line.at(-1);
}

function assertReal(
  { applied }: Receiver,
  given: { serial: number | null | undefined; what: string; body: BodyPlan; i: number },
): void {
  const { serial, what, body, i } = given;
  if (serial === null && body.swallows && body.actions[i]?.welcome !== 'taken') return;
  const found = applied.find((one) => one.serial === serial);
  expect(found?.what === what, `'${what}' is said to be ${serial}, which is ${found?.what}`);
}

function serialsIn(text = '[]'): readonly (number | null)[] {
  return JSON.parse(text) as (number | null)[];
}

function inputOf({ input }: RunState): ProgramInput {
  if (!('text' in input)) throw new Error('the input is not inline');
  return JSON.parse(input.text) as ProgramInput;
}

export function settledTypes(events: readonly RunEvent[]): string[] {
  return events.map((event) =>
    event.type === 'effect_settled' ? `settled ${event.data.outcome}` : event.type,
  );
}

function expect(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem);
}

import { describe, expect, test } from '@jest/globals';
import { clientCodec, recordCodec } from '../../../packages/cairn/src/store/codec/access.ts';
import { effectCodec } from '../../../packages/cairn/src/store/codec/effect.ts';
import { checkpointCodec, eventCodec, stepCodec } from '../../../packages/cairn/src/store/codec/journal.ts';
import { SNAPSHOT_NAMES } from '../../../packages/cairn/src/store/codec/snapshot.ts';
import { collectionNames } from '../../../packages/cairn/src/store/layout/collections.ts';
import { readDocument } from '../snippets.ts';

const page = readDocument('docs/data-model.md');
const capability = readDocument('packages/cairn/src/engine/define/capability.ts');

/** Checks of members: written by the store or, if not stored, declared. */
const MEMBERS: Readonly<Record<string, (name: string) => boolean>> = {
  run: (name) => SNAPSHOT_NAMES.includes(name),
  event: (name) => eventCodec.names.includes(name),
  checkpoint: (name) => checkpointCodec.names.includes(name),
  step: (name) => stepCodec.names.includes(name),
  effect: (name) => effectCodec.names.includes(name),
  record: (name) => recordCodec.names.includes(name),
  client: (name) => clientCodec.names.includes(name),
  capability: (name) => new RegExp(`readonly ${name}[?]?:`).test(capability),
  binding: (name) => capability.includes(`readonly ${name}:`),
};

/** Cells of the rows under each heading, without the head of its table. */
function rowsUnder(heading: string): string[][] {
  const [, part = ''] =
    new RegExp(`^##+ ${heading}\\n([\\s\\S]*?)(?=^#|$(?![\\s\\S]))`, 'm').exec(page) ?? [];
  return [...part.matchAll(/^\| (.+) \|$/gm)]
    .map(([, row = '']) => row.split(' | ').map((cell) => cell.trim()))
    .slice(1);
}

const wordsIn = (cell: string | undefined) =>
  [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

test('every member on the page is written by the code', () => {
  const named = [
    ...page.matchAll(/`(run|event|checkpoint|step|effect|record|capability|binding)\.(\w+)(?:\.(\w+))?`/g),
  ];
  expect(named.length).toBeGreaterThan(100);
  const snapshot = ['snapshot', 'volatile-metadata']
    .map((name) => readDocument(`packages/cairn/src/store/codec/${name}.ts`))
    .join();
  for (const [whole, where = '', name = '', inner] of named) {
    if (name === 'x' || whole === '`run.resumed`') continue;
    expect([whole, MEMBERS[where]?.(name)]).toEqual([whole, true]);
    if (inner !== undefined) expect([whole, snapshot.includes(`${inner}:`)]).toEqual([whole, true]);
  }
});

/** The fields of each text, by their original names. */
const FIELDS: Readonly<Record<string, string>> = {
  'RFC-0002: Durable Execution State Machine':
    'run_id thread_id skill_id skill_version status created_at started_at finished_at current_step_id checkpoint_head resume_from_checkpoint_id trace_id tenant_id environment versions.capabilities versions.bindings versions.registry_ref policy_snapshot_id result error source_run_id run.resumed',
  'Execution Graph Runtime v0':
    'status planVersion inputsHash outputsSummary errorTrace output startedAtMs updatedAtMs attempts graphId runId nodeId waitRunId OPENCLAW_EXECUTION_GRAPH_V0 OPENCLAW_EXECUTION_GRAPH_V0_DISABLE',
  'The run':
    'id schemaVersion tenantId repoId prId prUrl type status currentStep trigger.source trigger.userId trigger.webhookEventId idempotencyKey a2aCorrelationId lastHeartbeatAt result error cancellation compensationLog resumedFrom resumeCount createdAt updatedAt completedAt durationMs',
  'The transition context':
    'runId userId initiator timestamp metadata approval.action approval.requestedBy approval.decision approval.decidedAt approval.decidedBy approval.reason externalEvent.eventType externalEvent.source externalEvent.eventId externalEvent.expectedAt externalEvent.timeoutMs',
  'The idempotency record':
    'key source tenantId runId status requestHash response error createdAt updatedAt expiresAt lockExpiresAt attempts',
  'The checkpoint':
    'stepId agent status input output error timestamp resumable idempotent tokensUsed durationMs',
  'Runs as recorded state':
    'events.jsonl meta.json phase.end running awaiting_phase_handoff awaiting_gate_decision awaiting_human_review done halted cancelled failed interrupted continue_handoff continue_with_waiver_handoff retry_feedback_handoff mark_run_halted mark_run_done mark_run_failed mark_run_interrupted',
  'RFC-0003: Side-Effect Ledger':
    'side_effects idempotency replay_policy binding_call_id side_effect_status effect_id run_id step_id capability_id binding_id effect_class idempotency_key request_hash response_hash status recorded_result_ref created_at updated_at',
};

describe('docs/data-model.md describes every field, or says why it is absent:', () => {
  test.each(Object.entries(FIELDS))('%s', (heading, fields) => {
    const rows = rowsUnder(heading);
    const documented = rows.flatMap(([text]) => wordsIn(text));
    for (const field of fields.split(' ')) expect(documented).toContain(field);
    for (const [text, here, note] of rows) {
      expect([text, here]).toEqual([text, expect.stringMatching(/\S/)]);
      // A missing counterpart needs a reason.
      if (here === 'none') expect([text, note]).toEqual([text, expect.stringMatching(/\w+ \w+/)]);
    }
  });
});

test('every collection that the store names is on the page', () => {
  const names = Object.values(collectionNames('gwi_'));
  const documented = rowsUnder('Collections').flatMap(([first]) => wordsIn(first));
  expect(documented.map((path) => path.split('/').at(-1)).sort()).toEqual(names.sort());
});

/** Members that the code writes, by their prefix on the page. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  run: SNAPSHOT_NAMES,
  event: eventCodec.names,
  checkpoint: checkpointCodec.names,
  step: stepCodec.names,
  effect: effectCodec.names,
  record: recordCodec.names,
};

test.each(Object.entries(WRITTEN))(
  'every member that the code writes of %s is on the page',
  (word, names) => {
    const missing = names.filter((name) => !new RegExp(`\`${word}\\.${name}\\b`).test(page));
    expect(missing).toEqual([]);
  },
);

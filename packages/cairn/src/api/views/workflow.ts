/** A workflow as callers see it: its versions, what each is made of, and how many runs are on it. */
import type { Json } from '../../core/encoding/json.ts';
import { declaredType } from '../../core/flow/parts.ts';
import type { RunState } from '../../core/run/state.ts';
import type { PauseMark } from '../../core/schedule/schedule.ts';
import { pausedBy } from '../../engine/admission.ts';
import { jsonSchemaOf } from '../../engine/define/data-schema.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import type { PlanChange } from '../../engine/plans/known-plans.ts';
import type { LiveVersion } from '../../ports/run-statistics.ts';
import type { RuntimeConfig } from '../../ports/runtime-config.ts';
import { type Caller, mayActAs } from '../auth.ts';
import type { View } from './run.ts';
import { iso } from './values.ts';

interface WorkflowFacts {
  readonly type: string;
  /** Newest first; empty if only live runs are left. */
  readonly deployed: readonly Workflow[];
  readonly live: readonly LiveVersion[];
  /** Versions whose definition has changed. */
  readonly changes: readonly PlanChange[];
  readonly paused: PauseMark | undefined;
  /** The reason of a pause may name other tenants' affairs. */
  readonly showsReason: boolean;
  /** Without steps and triggers. */
  readonly isSummary: boolean;
}

export function workflowView(facts: WorkflowFacts): View {
  const { type, deployed, live, changes, paused, showsReason, isSummary } = facts;
  const liveRuns = new Map(live.map(({ planVersion, runs }) => [planVersion, runs]));
  const here = deployed.map((workflow) => ({
    ...(isSummary ? { planVersion: workflow.planVersion } : outline(workflow)),
    deployed: true,
    liveRuns: liveRuns.get(workflow.planVersion) ?? 0,
    changed: changedIn(changes, workflow.planVersion),
  }));
  const known = new Set(deployed.map(({ planVersion }) => planVersion));
  const missingVersions = [...liveRuns]
    .filter(([planVersion]) => !known.has(planVersion))
    .map(([planVersion, runs]) => ({ planVersion, deployed: false, liveRuns: runs }));
  const versions = [...here, ...missingVersions].sort((a, b) => b.planVersion - a.planVersion);
  const mark = paused && listedPause(paused, showsReason);
  return { type, newest: deployed[0]?.planVersion ?? null, paused: mark ?? null, versions };
}

/** A pause, for all callers: its author may belong to another tenant, so the name is left out. */
function listedPause(mark: PauseMark, showsReason: boolean): { readonly [name: string]: Json } {
  return { since: iso(mark.since), ...(showsReason ? reasonOf(mark) : {}) };
}

/** Differences in a version under the same number; undefined: none. */
function changedIn(changes: readonly PlanChange[], planVersion: number): string[] | undefined {
  return changes.find((change) => change.planVersion === planVersion)?.differences.map(({ what }) => what);
}

/** A pause, for callers who may set one. */
export function pauseView(mark: PauseMark): { readonly [name: string]: Json } {
  return { since: iso(mark.since), by: mark.by, ...reasonOf(mark) };
}

function reasonOf({ reason }: PauseMark): { readonly reason?: string } {
  return reason === undefined ? {} : { reason };
}

interface Outline {
  readonly planVersion: number;
  readonly steps: { readonly id: string; readonly kind: string; readonly needs: string[] }[];
  readonly on: {
    readonly github: { readonly event: string; readonly actions?: string[] | undefined }[];
    readonly slack: { readonly command: string }[];
    readonly pubsub: { readonly topic: string; readonly delivers: boolean }[];
    readonly schedule: {
      readonly id: string;
      readonly cron: string;
      readonly timezone: string;
      readonly catchUp: string;
    }[];
  };
}

/** Steps in the order in which they could run; `needs` holds ids. */
export function nodesOf({ graph, steps }: Pick<Workflow, 'graph' | 'steps'>): Outline['steps'][number][] {
  return graph.order.map((id) => ({ id, kind: steps.get(id)?.kind ?? '', needs: [...graph.node(id).needs] }));
}

function outline({ planVersion, graph, steps, ...on }: Workflow): Outline {
  return {
    planVersion,
    steps: nodesOf({ graph, steps }),
    on: {
      github: on.github.map(({ event, actions }) => ({ event, actions: actions && [...actions] })),
      slack: on.slack.map(({ command }) => ({ command })),
      pubsub: on.pubsub.map(({ topic, deliver }) => ({ topic, delivers: deliver !== undefined })),
      schedule: on.schedules.map(({ id, cron, timezone, catchUp }) => ({ id, cron, timezone, catchUp })),
    },
  };
}

/** The switch or pause of operators because of which the run is not dispatched. */
export function stoppedView(
  config: RuntimeConfig,
  run: Pick<RunState, 'type' | 'status'>,
  { role }: Pick<Caller, 'role'>,
): View | undefined {
  const by = pausedBy(config, run);
  if (by !== 'paused') return by && { by };
  const type = declaredType(run.type);
  const mark = config.paused.get(type);
  return mark && { by, type, ...listedPause(mark, mayActAs(role, 'installation')) };
}

/** Largest schema as JSON; a larger one is omitted. */
export const MAX_SCHEMA_CHARS = 100_000;

/** The input schema as JSON Schema, for forms. Undefined: too long, or it cannot be converted. */
export function inputSchemaOf({ input }: Pick<Workflow, 'input'>): Json | undefined {
  const schema = jsonSchemaOf(input);
  return JSON.stringify(schema ?? '').length > MAX_SCHEMA_CHARS ? undefined : schema;
}

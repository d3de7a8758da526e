/** The package's main entry: everything needed to write workflows, capabilities and bindings. */

export type { BudgetOptions, DayBudgetLimits } from './core/budget/day-limits.ts';
export { parseDuration } from './core/duration.ts';
export type { Json } from './core/encoding/json.ts';
export { CairnError, type ErrorCode, Fatal, NotApplied, OperationFailed, RetryAt } from './core/errors.ts';
export { MAX_ITEMS } from './core/run/limits.ts';
export type { Approved, ApprovedDecision } from './engine/define/approval.ts';
export type { Degraded } from './engine/define/body-result.ts';
export { degraded, isDegraded } from './engine/define/body-result.ts';
export type {
  CallDecision,
  CallDecision as CallVerdict,
  CallPolicy,
  CallQuestion,
} from './engine/define/call-policy.ts';
export {
  type Binding,
  type BindingOptions,
  type CallOptions,
  type Capability,
  type CapabilityOptions,
  defineBinding,
  defineCapability,
  type Found,
  type LookupOptions,
} from './engine/define/capability.ts';
export type {
  AskingFlow,
  Flow,
  FlowApprovalOptions,
  FlowChildOptions,
  FlowEventOptions,
  FlowMapOptions,
  FlowOptions,
  FlowWorkflowOptions,
  LoopOptions,
  OperationOptions,
  PerformOptions,
} from './engine/define/flow/types.ts';
export type { MessageEvent, PubsubMessage, PubsubSubscription } from './engine/define/pubsub.ts';
export type { SlackCommand, SlackSubscription } from './engine/define/slack.ts';
export type { Budget, Estimate, Usage } from './engine/define/spending.ts';
export type { Workflow } from './engine/define/steps.ts';
export type {
  ChildResult,
  GithubSubscription,
  Handle,
  Needs,
  OnFailure,
  Policy,
  PolicyDecision,
  PolicyDecision as PolicyVerdict,
  PolicyQuestion,
  ResultOf,
  ScheduleSubscription,
  StepContext,
  StepFactory,
  TypedWorkflow,
  WorkflowOptions,
} from './engine/define/types.ts';
export { defineWorkflow } from './engine/define/workflow.ts';

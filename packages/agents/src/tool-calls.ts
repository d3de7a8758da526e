/**
 * Carries out what a model asks for: each call is an operation of the flow, or two if a person is asked first. Whatever is wrong
 * with a call is told to the model, which can correct it.
 */
import { type Flow, type Json, OperationFailed } from 'cairn';
import type { ToolCall, ToolResult } from './messages.ts';
import { type AgentTool, APPROVE, asJson } from './tool.ts';

export interface CallOptions {
  /** Longest time that a person may take to decide. */
  readonly approvalTimeout?: string | number;
}

/** All at once; the results in the order of the calls. */
export function carryOut<Input>(
  flow: Flow<Input>,
  {
    calls,
    tools,
    options,
  }: {
    readonly calls: readonly ToolCall[];
    readonly tools: readonly AgentTool[];
    readonly options: CallOptions;
  },
): Promise<ToolResult[]> {
  return Promise.all(calls.map((call) => result(flow, call, tools, options)));
}

async function result<Input>(
  flow: Flow<Input>,
  call: ToolCall,
  tools: readonly AgentTool[],
  options: CallOptions,
): Promise<ToolResult> {
  const { id, name } = call;
  const tool = tools.find((one) => one.name === name);
  if (!tool) {
    const known = tools.map((one) => one.name).join(', ') || 'none';
    return { id, name, error: `There is no tool '${name}'. Tools: ${known}.` };
  }
  const parsed = tool.input.safeParse(call.input);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(
      ({ path, message }) => `${path.map(String).join('.') || 'input'}: ${message}`,
    );
    return { id, name, error: `The input is not valid. ${issues.join('; ')}` };
  }
  try {
    if (tool.needsApproval(parsed.data)) await approval(flow, call, options);
    return { id, name, output: await called(flow, tool, parsed.data) };
  } catch (error) {
    if (!(error instanceof OperationFailed)) throw error;
    return { id, name, error: said(error) };
  }
}

function approval<Input>(flow: Flow<Input>, { name, input }: ToolCall, { approvalTimeout }: CallOptions) {
  const question = { question: `The agent wants to call '${name}'. Allow it?`, details: input };
  return flow.approval(
    `${APPROVE}${name}`,
    question,
    approvalTimeout === undefined ? {} : { timeout: approvalTimeout },
  );
}

async function called<Input>(flow: Flow<Input>, tool: AgentTool, input: unknown): Promise<Json> {
  const { name, does } = tool;
  if (does.kind === 'perform')
    return asJson(await flow.perform(does.capability, does.request(input), { name }));
  const { run } = does;
  return asJson(
    await flow.step(name, async (context): Promise<Json> => asJson(await run(input, context)), {
      input: asJson(input),
    }),
  );
}

function said({ operation, code, message }: OperationFailed): string {
  if (!operation.startsWith(APPROVE)) return `The call failed (${code}): ${message}`;
  return code === 'APPROVAL_REJECTED'
    ? `A person did not allow this call: ${message}`
    : `Nobody allowed this call in time: ${message}`;
}

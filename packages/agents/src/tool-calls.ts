/**
 * Carries out the calls of a model: each is an operation of the flow, or two if a person must approve first. Errors of a call
 * are returned to the model, which can correct them.
 */
import { CairnError, Fatal, type Flow, type Json, OperationFailed } from 'cairn';
import { type ZodError, z } from 'zod';
import type { ToolCall, ToolResult } from './conversation.ts';
import { type AgentTool, APPROVE, asJson } from './tool.ts';

/** The model reads them: a list of thousands of wrong items would fill its context. */
const MAX_ISSUES = 20;

interface ToolCallOptions {
  readonly tools: readonly AgentTool[];
  /** Time limit for a person to decide. */
  readonly approvalTimeout: string | number | undefined;
}

/** All at once; the results in the order of the calls. */
export function carryOut<Input>(
  flow: Flow<Input>,
  calls: readonly ToolCall[],
  options: ToolCallOptions,
): Promise<ToolResult[]> {
  return Promise.all(calls.map((call) => result(flow, call, options)));
}

async function result<Input>(
  flow: Flow<Input>,
  call: ToolCall,
  { tools, approvalTimeout }: ToolCallOptions,
): Promise<ToolResult> {
  const { id, name } = call;
  const tool = tools.find((one) => one.name === name);
  if (!tool) {
    const known = tools.map((one) => one.name).join(', ') || 'none';
    return { id, name, error: `There is no tool '${name}'. Tools: ${known}.` };
  }
  const parsed = parsedInput(tool, call);
  if ('refusal' in parsed) return { id, name, error: `The input is not valid. ${parsed.refusal}` };
  try {
    if (tool.needsApproval(parsed.data)) await approval(flow, call, approvalTimeout);
    return { id, name, output: await called(flow, tool, { given: call.input, input: parsed.data }) };
  } catch (error) {
    return { id, name, error: messageOf(error) };
  }
}

/** The input as the schema of the tool returns it, or why it refuses it. A function within the schema may throw for it. */
function parsedInput(
  { input }: AgentTool,
  call: ToolCall,
): { readonly data: unknown } | { readonly refusal: string } {
  try {
    const parsed = input.safeParse(call.input);
    return parsed.success ? { data: parsed.data } : { refusal: issuesText(parsed.error.issues) };
  } catch (error) {
    if (error instanceof z.core.$ZodAsyncError) throw error;
    // A model's service may refuse a request with half a character, which a cut of its input leaves.
    return { refusal: String((error as Partial<Error> | null)?.message ?? error).toWellFormed() };
  }
}

function issuesText(issues: ZodError['issues']): string {
  const lines = issues
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => `${path.map(String).join('.') || 'input'}: ${message}`);
  if (issues.length > MAX_ISSUES) lines.push(`and ${issues.length - MAX_ISSUES} more`);
  return lines.join('; ');
}

function approval<Input>(
  flow: Flow<Input>,
  { name, input }: ToolCall,
  timeout: ToolCallOptions['approvalTimeout'],
) {
  const question = { question: `The agent wants to call '${name}'. Allow it?`, details: input };
  return flow.approval(`${APPROVE}${name}`, question, timeout === undefined ? {} : { timeout });
}

async function called<Input>(
  flow: Flow<Input>,
  { name, does }: AgentTool,
  { given, input }: { readonly given: Json; readonly input: unknown },
): Promise<Json> {
  if (does.kind === 'perform')
    return asJson(await flow.perform(does.capability, does.request(input), { name }));
  const { run } = does;
  return asJson(
    // The schema may transform the input into a value that is not JSON.
    await flow.step(name, async (context): Promise<Json> => asJson(await run(input, context)), {
      input: given,
    }),
  );
}

/** @throws errors that the call did not cause */
function messageOf(error: unknown): string {
  if (!(error instanceof OperationFailed)) {
    if (isRefusedRequest(error)) return `The call is not valid: ${error.message}`;
    throw error;
  }
  const { operation, code, message } = error;
  if (!operation.startsWith(APPROVE)) return `The call failed (${code}): ${message}`;
  if (code === 'APPROVAL_REJECTED') return `A person did not allow this call: ${message}`;
  if (code === 'APPROVAL_EXPIRED') return `Nobody allowed this call in time: ${message}`;
  return `Nobody could be asked to allow this call (${code}): ${message}`;
}

/** The capability does not take the request, or it is too large to be recorded. */
function isRefusedRequest(error: unknown): error is Error {
  return error instanceof Fatal || (error instanceof CairnError && error.code === 'PAYLOAD_TOO_LARGE');
}

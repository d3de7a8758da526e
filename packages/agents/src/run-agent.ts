/**
 * The loop of an agent, as code of a flow: calls the model and carries out its tool calls until it makes none. Answers and tool
 * results are recorded operations, so that a killed turn repeats no action.
 */
import { type Flow, OperationFailed } from 'cairn';
import type { AgentMessage, AgentModel, ModelRequest, ModelResponse } from './conversation.ts';
import { MessageInbox } from './message-inbox.ts';
import { recordable } from './recordable.ts';
import { type AgentTool, assertDistinct, described, invalid, MODEL } from './tool.ts';
import { carryOut } from './tool-calls.ts';

/** Default maximum of calls of the model (`maxTurns`). */
export const MAX_TURNS = 20;
const MODEL_TIMEOUT = '2m';
/** Stop reasons that mean an incomplete answer. */
const CUT_OFF = ['length', 'content-filter', 'error', 'blocked', 'aborted'];

export interface AgentOptions {
  readonly model: AgentModel;
  readonly tools?: readonly AgentTool[];
  readonly system?: string;
  /** The first message, or a conversation so far. */
  readonly prompt: string | readonly AgentMessage[];
  /** Maximum calls of the model; default 20. */
  readonly maxTurns?: number;
  /** Time limit of a model call; default '2m'. */
  readonly modelTimeout?: string | number;
  /** Attempts of a call of the model, as `retry` of a step. */
  readonly retry?: { readonly maxAttempts?: number; readonly initialMs?: number; readonly capMs?: number };
  /** Streams the text of each answer while the model writes it, if the model supports it: `stream` of a step body. Default false. */
  readonly stream?: boolean;
  /** Time limit for a person to decide about a call. */
  readonly approvalTimeout?: string | number;
  /** Receives events `agent-message` with this key while it runs, each a text or `{ text }`. */
  readonly messages?: { readonly key: string };
}

export interface AgentResult {
  readonly text: string;
  /** Calls of the model. */
  readonly turns: number;
  readonly usage: { readonly input: number; readonly output: number };
  /** The whole conversation; pass it as `prompt` to continue. */
  readonly messages: readonly AgentMessage[];
}

/**
 * Call it in the code of a flow whose `uses` has `capabilitiesOf(tools)`.
 *
 * @throws CairnError INVALID_INPUT; OperationFailed AGENT_TURNS_USED, AGENT_CUT_OFF, or the code of the failed call of the model
 */
export async function runAgent<Input>(flow: Flow<Input>, options: AgentOptions): Promise<AgentResult> {
  const { tools = [], maxTurns = MAX_TURNS, prompt, approvalTimeout } = options;
  assertDistinct(tools);
  if (!Number.isSafeInteger(maxTurns) || maxTurns < 1)
    throw invalid('maxTurns', `'maxTurns' must be an integer of at least 1`);
  const messages: AgentMessage[] =
    typeof prompt === 'string' ? [{ role: 'user', text: prompt }] : [...prompt];
  const inbox = options.messages && new MessageInbox(flow, options.messages.key);
  const usage = { input: 0, output: 0 };
  for (let turns = 1; turns <= maxTurns; turns += 1) {
    messages.push(...(inbox?.take() ?? []));
    const answer = await requestText(flow, options, messages);
    const { text, calls, raw, usage: used } = answer;
    usage.input += used?.input ?? 0;
    usage.output += used?.output ?? 0;
    messages.push({ role: 'assistant', text, calls, raw });
    if (calls.length > 0) {
      messages.push({ role: 'tool', results: await carryOut(flow, calls, { tools, approvalTimeout }) });
      continue;
    }
    if (CUT_OFF.includes(answer.finish)) throw cutOff(answer, turns);
    if (inbox?.hasMessages !== true) return { text, turns, usage, messages };
  }
  const why = `the agent is not done after ${maxTurns} turns ('maxTurns')`;
  throw new OperationFailed(MODEL, 'AGENT_TURNS_USED', why);
}

function requestText<Input>(
  flow: Flow<Input>,
  options: AgentOptions,
  messages: readonly AgentMessage[],
): Promise<ModelResponse> {
  const { model, system, tools = [], retry, modelTimeout: timeout = MODEL_TIMEOUT } = options;
  const request = { system, messages, tools: described(tools) };
  return flow.step(
    MODEL,
    async ({ signal, usage, stream }): Promise<ModelResponse> => {
      const answer = recordable(
        await (options.stream
          ? streamed(model, { ...request, signal }, stream)
          : model.generate({ ...request, signal })),
      );
      usage({ agent: model.id, tokens: answer.usage });
      return answer;
    },
    { timeout, retry },
  );
}

/** If the model does not stream, the text is shown when it is complete. */
async function streamed(
  model: AgentModel,
  request: ModelRequest,
  stream: (text: string) => void,
): Promise<ModelResponse> {
  let shown = '';
  const onText = (piece: string) => {
    shown += piece;
    stream(piece);
  };
  const answer = await model.generate({ ...request, onText });
  if (answer.text.startsWith(shown)) stream(answer.text.slice(shown.length));
  return answer;
}

function cutOff({ finish }: ModelResponse, turns: number): OperationFailed {
  return new OperationFailed(MODEL, 'AGENT_CUT_OFF', `the answer of turn ${turns} was cut off: ${finish}`);
}

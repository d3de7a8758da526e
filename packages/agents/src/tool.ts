/** Tools of an agent: calls that a model may make, and their implementation. */
import { CairnError, type Capability, type Json, type StepContext } from 'cairn';
import { type ZodType, z } from 'zod';

interface CommonToolOptions<Input> {
  /** Name for the model: a letter, then up to 63 letters, digits, '_' and '-'. Its calls are operations of this name. */
  readonly name: string;
  /** Shown to the model. */
  readonly description: string;
  /** True if a person must approve the call, or a pure function that decides it. */
  readonly needsApproval?: boolean | ((input: Input) => boolean);
}

/** A tool that only reads or computes. A crash while it runs repeats it. */
export interface PureToolOptions<Input> extends CommonToolOptions<Input> {
  readonly input: ZodType<Input>;
  readonly run: (input: Input, context: Pick<StepContext<unknown>, 'signal' | 'log' | 'runId'>) => unknown;
  readonly capability?: undefined;
}

/** A tool that acts on an external system, once for each call, through the ledger. */
export interface CapabilityToolOptions<Input, Request> extends CommonToolOptions<Input> {
  // biome-ignore lint/suspicious/noExplicitAny: the response goes to the model as it is
  readonly capability: Capability<Request, any>;
  /** Default: the request of the capability. */
  readonly input?: ZodType<Input>;
  /** Makes the request of the input. Must be pure. */
  readonly request?: (input: Input) => Request;
  readonly run?: undefined;
}

export interface AgentTool {
  readonly name: string;
  readonly description: string;
  readonly input: ZodType;
  /** JSON schema of the input. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly needsApproval: (input: unknown) => boolean;
  readonly does:
    | { readonly kind: 'run'; readonly run: PureToolOptions<unknown>['run'] }
    | {
        readonly kind: 'perform';
        readonly capability: Capability;
        readonly request: (input: unknown) => unknown;
      };
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
/** Names of an agent's own operations, which no tool may have: model calls and messages. */
export const MODEL = 'model';
export const MESSAGE = 'message';
/** Prefix of the names of questions about calls. */
export const APPROVE = 'approve-';
const MAX_DESCRIPTION = 4_000;

/** @throws CairnError INVALID_INPUT */
export function defineTool<Input>(options: PureToolOptions<Input>): AgentTool;
export function defineTool<Request, Input = Request>(
  options: CapabilityToolOptions<Input, Request>,
): AgentTool;
export function defineTool(
  options: PureToolOptions<unknown> | CapabilityToolOptions<unknown, unknown>,
): AgentTool {
  const { name, description, needsApproval = false, capability } = options;
  if (typeof name !== 'string' || !NAME.test(name) || isReserved(name)) {
    const what = `a letter, then up to 63 letters, digits, '_' or '-', neither '${MODEL}' nor '${MESSAGE}', and without '${APPROVE}' before it`;
    throw invalid('name', `the name of a tool is ${what}; not ${JSON.stringify(name)}`);
  }
  if (typeof description !== 'string' || description === '' || description.length > MAX_DESCRIPTION) {
    throw invalid(
      'description',
      `the tool '${name}' needs a description of 1 to ${MAX_DESCRIPTION} characters`,
    );
  }
  if ((capability === undefined) === (options.run === undefined)) {
    throw invalid('run', `the tool '${name}' needs either 'run' or 'capability'`);
  }
  if (typeof needsApproval !== 'boolean' && typeof needsApproval !== 'function') {
    throw invalid(
      'needsApproval',
      `'needsApproval' of the tool '${name}' is true, false or a function of the input`,
    );
  }
  const input = options.input ?? capability?.request;
  if (typeof input?.safeParse !== 'function') {
    throw invalid(
      'input',
      `the tool '${name}' needs a Zod schema 'input', such as z.object({ query: z.string() })`,
    );
  }
  if (isOfZod3(input)) {
    throw invalid(
      'input',
      `the input of the tool '${name}' is a Zod 3 schema, whose members Cairn cannot read. Install Zod 4: npm install zod@4`,
    );
  }
  return {
    name,
    description,
    input,
    schema: schemaOf(name, input),
    needsApproval: (value) => (typeof needsApproval === 'function' ? needsApproval(value) : needsApproval),
    does: actionOf(options),
  };
}

/** Only Zod 3 stores type names there. */
function isOfZod3(schema: object): boolean {
  return typeof (schema as { _def?: { typeName?: unknown } })._def?.typeName === 'string';
}

function isReserved(name: string): boolean {
  return name === MODEL || name === MESSAGE || name.startsWith(APPROVE);
}

function actionOf(
  options: PureToolOptions<unknown> | CapabilityToolOptions<unknown, unknown>,
): AgentTool['does'] {
  if (options.capability === undefined) return { kind: 'run', run: options.run };
  const { capability, request = (input: unknown) => input } = options;
  return { kind: 'perform', capability, request };
}

/** Models require an object at the top level. */
function schemaOf(name: string, input: ZodType): AgentTool['schema'] {
  try {
    const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
    if (schema.type === 'object') return schema;
  } catch (cause) {
    throw invalid('input', `the input of the tool '${name}' has no JSON schema: ${(cause as Error).message}`);
  }
  throw invalid(
    'input',
    `the input of the tool '${name}' must be an object, such as z.object({ query: z.string() })`,
  );
}

/** For `uses` of the flow. */
export function capabilitiesOf(tools: readonly AgentTool[]): Capability[] {
  const known = new Map(
    tools.flatMap(({ does }) =>
      does.kind === 'perform' ? [[does.capability.id, does.capability] as const] : [],
    ),
  );
  return [...known.values()];
}

/** Description of the tools for a model. */
export function described(tools: readonly AgentTool[]) {
  return tools.map(({ name, description, schema }) => ({ name, description, input: schema }));
}

export function assertDistinct(tools: readonly AgentTool[]): void {
  const names = tools.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw invalid('tools', `two tools have the name '${twice}'`);
}

export function invalid(field: string, message: string): CairnError {
  return new CairnError('INVALID_INPUT', message, {
    field,
    help: 'docs/agents.md lists the options of tools and agents.',
  });
}

export function asJson(value: unknown): Json {
  return (value ?? null) as Json;
}

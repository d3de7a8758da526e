/**
 * Functions served by the emulator of firebase-tools (`GET /backends`), as the host describes functions, with the path
 * of each. Undiscovered functions are not served, because discovery is part of what is tested here.
 */
import { type FunctionSpec, specOf } from '../host/function-spec.ts';

/** A function as the emulator lists it, including triggers that it does not start. */
interface EmulatedFunction {
  readonly name: string;
  readonly region: string;
  readonly timeoutSeconds?: number;
  readonly secretEnvironmentVariables?: readonly { readonly key: string }[];
  readonly httpsTrigger?: object;
  readonly taskQueueTrigger?: object;
  readonly eventTrigger?: { readonly eventType: string; readonly eventFilters?: { readonly topic?: string } };
  readonly schedule?: object;
}

export interface Discovered {
  readonly spec: FunctionSpec;
  readonly path: string;
}

/** The emulator starts a process for each concurrent request, regardless of `concurrency`. */
const MAX_PROCESSES_A_FUNCTION = 6;

export function discovered(functions: readonly EmulatedFunction[], projectId: string): Discovered[] {
  return functions.map((each) => {
    const { name, region, eventTrigger, schedule, httpsTrigger, taskQueueTrigger } = each;
    const topic = eventTrigger?.eventFilters?.topic;
    const trigger =
      schedule !== undefined
        ? { scheduleTrigger: schedule }
        : eventTrigger !== undefined
          ? { eventTrigger: { ...eventTrigger, eventFilters: { topic: topic?.split('/').at(-1) } } }
          : taskQueueTrigger !== undefined
            ? { taskQueueTrigger }
            : { httpsTrigger };
    const { timeoutSeconds, secretEnvironmentVariables } = each;
    const endpoint = {
      ...trigger,
      timeoutSeconds,
      secretEnvironmentVariables,
      concurrency: MAX_PROCESSES_A_FUNCTION,
    };
    // The emulator names event functions by their name and the number of trigger reloads.
    const key = eventTrigger === undefined ? name : `${name}-0`;
    return { spec: specOf(name, endpoint, region), path: `/${projectId}/${region}/${key}` };
  });
}

/** Call once the emulator is ready. @throws Error without a response or without functions */
export async function functionsAt(url: string): Promise<EmulatedFunction[]> {
  const answer = await fetch(`${url}/backends`);
  const { backends } = (await answer.json()) as { backends: { functionTriggers?: EmulatedFunction[] }[] };
  const functions = backends.flatMap(({ functionTriggers }) => functionTriggers ?? []);
  if (functions.length === 0) throw new Error('firebase-tools found no functions; see its output above');
  return functions;
}

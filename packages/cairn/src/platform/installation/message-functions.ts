/**
 * A function for each Pub/Sub topic whose messages workflows take. Cheap to load: topics are given by name, workflows
 * are loaded with the first message.
 */
import type { CloudEvent, CloudFunction } from 'firebase-functions';
import { type MessagePublishedData, onMessagePublished } from 'firebase-functions/pubsub';
import type { DeploymentTarget } from './deployed.ts';
import { backgroundHandlers } from './load-handlers.ts';

export type MessageFunctions = Readonly<Record<string, CloudFunction<CloudEvent<MessagePublishedData>>>>;

/**
 * The functions are `pubsub-{topic in camel case}`. Their deployment creates the topics. An error of a function makes
 * its subscription redeliver the message.
 *
 * @throws Error if two topics map to one name
 */
export function messageFunctions(
  { installation, region }: DeploymentTarget,
  topics: readonly string[],
): MessageFunctions {
  const functions: Record<string, MessageFunctions[string]> = {};
  for (const topic of topics) {
    const name = functionNameOf(topic);
    if (functions[name]) throw new Error(`two topics map to the function name '${name}'`);
    functions[name] = onMessagePublished(
      { topic, region, retry: true, memory: '512MiB', timeoutSeconds: 60 },
      async ({ data }) => {
        const { takeTopicMessage } = await backgroundHandlers();
        await takeTopicMessage(installation, topic, data);
      },
    );
  }
  return functions;
}

/** `deploy-requests` is `deployRequests`: names of functions contain letters and digits only. */
function functionNameOf(topic: string): string {
  const [first = '', ...rest] = topic.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

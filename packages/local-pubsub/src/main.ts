#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
/** `local-pubsub`: the Pub/Sub server alone. It pushes to the addresses that subscriptions name. */
import { FlagError, serve } from '@cairn/local-kit/command/serve';
import { movableClock } from '@cairn/local-kit/time/clock';
import { dispatchOverHttp } from '@cairn/local-tasks/over-http';

const DEFAULT_PROJECT = 'demo-project';
/** The form of topic names in Pub/Sub. */
const TOPIC_ID = /^(?!goog)[A-Za-z][A-Za-z0-9\-_.~+%]{2,254}$/;

await serve(
  {
    name: 'local-pubsub',
    summary: 'Serves Pub/Sub on this machine until it is interrupted.',
    variable: 'PUBSUB_EMULATOR_HOST',
    flags: [{ name: 'topic', value: 'NAME', help: 'a topic to create if it does not exist', multiple: true }],
    async start({ port, data, sync, project = DEFAULT_PROJECT }, values) {
      const { randomGeneration, startPubsubServer } = await import('./server.ts');
      const topics = values.all('topic').map((id) => topicOf(project, id));
      const server = await startPubsubServer({
        storage: data === undefined ? { kind: 'memory' } : { kind: 'sqlite', file: data, sync },
        port,
        clock: movableClock(Date.now),
        dispatch: dispatchOverHttp,
        freshGeneration: randomGeneration,
        notice: (line) => process.stderr.write(`local-pubsub: ${line}\n`),
      });
      for (const topic of topics) server.ensureTopic(topic);
      server.start();
      return server;
    },
  },
  process.argv.slice(2),
);

function topicOf(project: string, id: string): string {
  if (!TOPIC_ID.test(id))
    throw new FlagError(
      `--topic must be 3 to 255 letters, digits and -_.~+%, starting with a letter but not with goog; got '${id}'`,
    );
  return `projects/${project}/topics/${id}`;
}

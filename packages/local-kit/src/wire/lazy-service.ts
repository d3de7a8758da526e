/** A gRPC service whose protocol description is loaded with its first call, so that it does not delay the start of a server. */
import type { ServiceDefinition } from '@grpc/grpc-js';

/**
 * @param service full name
 * @param methods names of its methods, each with one request and one response
 */
export function lazyDefinition(
  service: string,
  methods: readonly string[],
  load: () => ServiceDefinition,
): ServiceDefinition {
  const method = (name: string) => {
    const loaded = load()[name];
    if (!loaded) throw new Error(`The protocol description of ${service} has no ${name}.`);
    return loaded;
  };
  const lazy = methods.map((name) => [
    name,
    {
      path: `/${service}/${name}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: (value: object) => method(name).requestSerialize(value),
      requestDeserialize: (bytes: Buffer) => method(name).requestDeserialize(bytes) as object,
      responseSerialize: (value: object) => method(name).responseSerialize(value),
      responseDeserialize: (bytes: Buffer) => method(name).responseDeserialize(bytes) as object,
    },
  ]);
  return Object.fromEntries(lazy) as ServiceDefinition;
}

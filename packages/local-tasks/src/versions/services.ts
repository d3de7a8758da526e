/** The services of the beta versions. Their descriptions are loaded with the first request, because most programs do not call them. */
import type { RestService } from '@cairn/local-kit/rest/unary-rest';
import { loadProtocol, onlyScopes, serviceDefinition } from '@cairn/local-kit/wire/grpc-service';
import { lazyDefinition } from '@cairn/local-kit/wire/lazy-service';
import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { ApiVersion } from './translate.ts';

interface LateService {
  /** Prefix of its REST paths, e.g. `v2beta3`. */
  readonly id: string;
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
  /** The service for REST. */
  described(): RestService;
}

export function lateService(
  { service }: ApiVersion,
  implementation: UntypedServiceImplementation,
): LateService {
  const scope = service.slice(0, service.lastIndexOf('.'));
  let loaded: RestService | undefined;
  const described = () => {
    if (loaded) return loaded;
    const protocol = loadProtocol('@google-cloud/tasks', 'build/protos/protos.json', (json) =>
      onlyScopes(
        json,
        scope,
        'google.iam',
        'google.rpc',
        'google.type',
        'google.api.HttpBody',
        'google.longrunning.Operation',
      ),
    );
    loaded = {
      protocol: protocol.lookupService(service),
      definition: serviceDefinition(protocol, service),
      implementation,
    };
    return loaded;
  };
  const definition = lazyDefinition(service, Object.keys(implementation), () => described().definition);
  return { id: scope.slice(scope.lastIndexOf('.') + 1), definition, implementation, described };
}

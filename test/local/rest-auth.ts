/** Options with which Google's generated clients use REST instead of gRPC with a local server. */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
/** From the library that the clients authenticate with: sends requests unchanged. */
const { PassThroughClient } = createRequire(require.resolve('google-gax'))('google-auth-library') as {
  PassThroughClient: new () => unknown;
};

export function restOptions(host: string): never {
  const [apiEndpoint, port] = host.split(':');
  return {
    fallback: true,
    protocol: 'http',
    apiEndpoint,
    port: Number(port),
    // Without a key or file the client would search for the machine's own credentials.
    authClient: new PassThroughClient(),
  } as never;
}

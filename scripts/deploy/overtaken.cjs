/**
 * Finds functions that a concurrent deployment changed after this one. Google updates one function at a time, so each of two
 * deployments may be the last for some functions: `api` of one version, `drive` of another. Only reads.
 */

/**
 * @param given context and payload of a deployment that has succeeded, and the endpoints that it left as they are
 * @param tools loads modules of firebase-tools
 * @returns names of functions that are not those of this deployment
 */
async function overtaken({ context, payload, declined }, tools) {
  const backend = tools('firebase-tools/lib/deploy/functions/backend');
  const { endpointMatchesAnyFilter } = tools('firebase-tools/lib/deploy/functions/functionsDeployHelper');
  const wanted = Object.values(payload.functions ?? {})
    .flatMap(({ wantBackend }) => backend.allEndpoints(wantBackend))
    .filter((one) => one.hash && !declined.has(one) && endpointMatchesAnyFilter(one, context.filters));
  if (wanted.length === 0) return [];
  const { endpoints } = await backend.existingBackend(context, true);
  return wanted.flatMap(({ region, id, hash }) => {
    const have = endpoints[region]?.[id];
    // A region that does not answer lists no functions.
    return have === undefined || have.hash === hash ? [] : [id];
  });
}

module.exports = { overtaken };

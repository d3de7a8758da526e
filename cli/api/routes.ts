/** The API's routes, as types: what the command line may call. Nothing of the functions is loaded. */
export type * from '../../functions/src/api/openapi/calls.ts';

/** The test kit's interception of ports, re-exported for the engine's own tests. */
export {
  type InterceptedCall,
  intercept,
  never,
  type Proceed,
} from '../../packages/cairn/src/testing/world/intercept.ts';

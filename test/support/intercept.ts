/** The test kit's place between a caller and a port, under the name by which the engine's own tests know it. */
export {
  type InterceptedCall,
  intercept,
  never,
  type Proceed,
} from '../../packages/cairn/src/testing/world/intercept.ts';

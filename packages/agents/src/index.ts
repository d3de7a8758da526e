/** The package's main entry. */

export type {
  AgentMessage,
  AgentModel,
  ModelRequest,
  ModelResponse,
  ModelResponse as ModelAnswer,
  ToolCall,
  ToolResult,
} from './conversation.ts';
export { type AgentOptions, type AgentResult, MAX_TURNS, runAgent } from './run-agent.ts';
export {
  type ScriptedResponse,
  type ScriptedResponse as ScriptedAnswer,
  type ScriptedTurn,
  scriptedModel,
} from './scripted.ts';
export {
  type AgentTool,
  type CapabilityToolOptions,
  capabilitiesOf,
  defineTool,
  type PureToolOptions,
} from './tool.ts';

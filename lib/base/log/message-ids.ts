/** A syslog priority (`man 3 syslog`): 3 error, 4 warning, 5 notice, 6 info. */
export type Priority = 3 | 4 | 5 | 6;

interface EventKind {
  /** MESSAGE_ID of the journal: 128 bits in hex. Once released, an id keeps its meaning. */
  readonly id: string;
  readonly priority: Priority;
}

/**
 * Every event of an agent and its steps that programs may wait for or count. The
 * catalog (units/catalog/sno-agents.catalog) explains each in `journalctl -x`,
 * under the same ids.
 */
export const EVENTS = {
  'agent-started': { id: '4f7a04f526384a5da16d90919108af2b', priority: 6 },
  'agent-done': { id: '41ed8ad724494b9d8c89c8f4a7e00920', priority: 5 },
  'agent-failed': { id: 'c2958e39da4b42f78c00f6e424559fc9', priority: 3 },
  'agent-stopped': { id: 'a3867dbdae5a4c63848e73b666fb09cc', priority: 4 },
  'host-restart': { id: 'fb6a8d2e901448a5a70d8ea4a211b762', priority: 4 },
  'step-started': { id: '22426ad66c154e5f8d6c7720137d3720', priority: 6 },
  'step-waiting': { id: '5abcba4f1f9941c48cdbeabe8072ff7a', priority: 6 },
  'step-retry': { id: '11b4d400cca34ab88a610c401c4b0a87', priority: 6 },
  'step-already-done': { id: 'fde3807e69f74b30b50c7642d820f433', priority: 6 },
  'step-done': { id: 'd3879b15a4884aaea9e2250b879d7e3f', priority: 6 },
  'administrator-issued': { id: '2ee41ad8f94b47fea4a3cb4d2ea2ea10', priority: 5 },
  'step-failed': { id: '9affedb57b31451a89606e6f9eb93409', priority: 3 },
} as const satisfies Record<string, EventKind>;

export type EventName = keyof typeof EVENTS;

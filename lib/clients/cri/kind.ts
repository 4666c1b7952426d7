/** The container runtimes that the agents know. */
export const RUNTIMES = ['containerd', 'cri-o'] as const;
export type RuntimeKind = (typeof RUNTIMES)[number];

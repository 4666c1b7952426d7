/**
 * Label of a control-plane node whose pods are reached from other nodes: from its cluster's first
 * worker on. The routes between nodes depend on it (lib/render/kubernetes/addons/flannel.ts).
 */
export const ROUTED_LABEL = 'sno-agents/routed-pods';

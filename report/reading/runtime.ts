import type { BundleView, Evidence } from '../bundle-view.ts';
import { whereSaid } from './evidence.ts';
import { hostFiles } from './hosts.ts';
import { at, listAt, textAt } from './values.ts';

/** `RuntimeReady` and `NetworkReady`, as the container runtime reports them to the kubelet (CRI, Status). */
export interface RuntimeCondition {
  readonly isTrue: boolean;
  readonly message: string;
  readonly evidence: readonly Evidence[];
}

export function runtimeCondition(view: BundleView, type: string): RuntimeCondition | undefined {
  for (const path of hostFiles(view, 'containers/runtime.json')) {
    const raw = view.json(path);
    const conditions = [...listAt(raw, 'conditions'), ...listAt(raw, 'status', 'conditions')];
    const found = conditions.find((condition) => textAt(condition, 'type') === type);
    if (found === undefined) continue;
    const status = at(found, 'status');
    return {
      isTrue: status === true || status === 'True' || status === 'true',
      message: textAt(found, 'message') || textAt(found, 'reason') || 'no reason given',
      evidence: whereSaid(view, path, `"${type}"`),
    };
  }
  return undefined;
}

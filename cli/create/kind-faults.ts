import { suggest } from '../../lib/base/errors/suggest.ts';
import { builtInGroups } from '../../lib/clients/kube/built-in-groups.ts';
import { builtInKind, builtInKinds, namedLike } from '../../lib/clients/kube/built-in-kinds.ts';
import { groupOf } from '../../lib/clients/kube/kind-name.ts';
import type { Manifest } from '../../lib/clients/kube/manifest-decoding.ts';
import { shown } from './record-at.ts';

type Given = Pick<Manifest, 'apiVersion' | 'kind'>;

/** Of Kubernetes until 1.21. */
const FORMER_GROUP = 'extensions';
const PRE_RELEASE = /(?:^|\/)v\d+(?:alpha|beta)\d+$/;
/** These have no kind in any release since 1.27, with any feature gate. */
const FORMER =
  /^(?:extensions|apps|autoscaling|batch|policy|node\.k8s\.io|discovery\.k8s\.io|events\.k8s\.io|rbac\.authorization\.k8s\.io|apiextensions\.k8s\.io|apiregistration\.k8s\.io)\/v[12](?:alpha1|beta[12])$/;

/** A kind that no API serves: another group, a version that is no longer served, or a slip. The API would be asked for it until the deadline. */
export function kindFault({ apiVersion, kind }: Given): string | undefined {
  const group = groupOf(apiVersion);
  if (!builtInGroups.has(group) && group !== FORMER_GROUP) return groupFault(group);
  if (builtInKind(apiVersion, kind) !== undefined) return undefined;
  const home = namedLike(apiVersion, kind);
  // Whether it is served depends on the release, and on the gates of its features.
  const isOpen = group !== '' && PRE_RELEASE.test(apiVersion) && !FORMER.test(apiVersion);
  if (isOpen && (home === undefined || (home.kind === kind && home.isYoung))) return undefined;
  const near = home ?? nearest(apiVersion, kind);
  return near === undefined
    ? `kind: expected one that Kubernetes serves in ${apiVersion}, found ${shown(kind)}. Remove it, or see "kubectl api-resources".`
    : `kind: expected ${near.kind} of ${near.apiVersion}, found ${kind} of ${apiVersion}. Write apiVersion: ${near.apiVersion} and kind: ${near.kind}, and see whether the fields are those of that version.`;
}

function nearest(apiVersion: string, kind: string) {
  const name = suggest(
    kind,
    builtInKinds.map((each) => each.kind),
  );
  return name === undefined ? undefined : namedLike(apiVersion, name);
}

/** Groups of others are domains: only Kubernetes itself has such without a dot. */
function groupFault(group: string): string | undefined {
  if (group.includes('.')) return undefined;
  const groups = [...builtInGroups].filter((each) => each !== '');
  const near = groups.find((each) => each.startsWith(`${group}.`)) ?? suggest(group, groups);
  const fix = near === undefined ? 'See "kubectl api-resources".' : `Did you mean ${near}?`;
  return `apiVersion: expected a group of Kubernetes or a domain, found ${shown(group)}. ${fix}`;
}

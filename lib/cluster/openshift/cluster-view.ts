import type { KubeClient, Selection } from '../../clients/kube/client.ts';
import {
  type KubeObject,
  type Pod,
  type Resource,
  resources,
} from '../../clients/kube/resources.ts';
import { watchObjects } from '../../clients/kube/watch-objects.ts';
import {
  CLUSTER_VERSION,
  type ClusterState,
  clusterResources,
  type OperatorState,
  operatorResource,
  type StaticPodOperator,
  staticPodOperators,
} from './operators.ts';
import { type Revision, revisionsIn } from './revisions.ts';
import type { OperatorView } from './take-over.ts';

/** The objects of one kind in one namespace; undefined until they have been listed. */
type Objects<T> = readonly T[] | undefined;

interface Part {
  state?: Objects<OperatorState>;
  pods?: Objects<Pod>;
  configMaps?: Objects<KubeObject>;
}

/**
 * The static pod operators, their pods and revisions, the version and the ClusterOperators, as the
 * API server shows them; followed by watches until the signal fires.
 */
export class ClusterView {
  readonly #client: KubeClient;
  readonly #signal: AbortSignal;
  readonly #parts = new Map<string, Part>();
  readonly #lost = new Map<string, string>();
  #versions: Objects<ClusterState>;
  #operators: Objects<ClusterState>;

  constructor(client: KubeClient, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Watches until the signal fires, calling `changed` after each change. */
  async follow(changed: () => void): Promise<void> {
    const { versions, operators } = clusterResources;
    await Promise.all([
      ...staticPodOperators.map((operator) => this.#followOperator(operator, changed)),
      this.#follow(versions, {}, (items) => {
        this.#versions = items;
        changed();
      }),
      this.#follow(operators, {}, (items) => {
        this.#operators = items;
        changed();
      }),
    ]);
  }

  /** Each static pod operator; undefined until everything of all of them has been listed. */
  operators(): readonly OperatorView[] | undefined {
    const views: OperatorView[] = [];
    for (const operator of staticPodOperators) {
      const { state, pods, configMaps } = this.#parts.get(operator.component) ?? {};
      if (state === undefined || pods === undefined || configMaps === undefined) return undefined;
      views.push({ operator, state: state.find(isCluster), pods });
    }
    return views;
  }

  revisions(): Revision[] {
    return staticPodOperators.flatMap(({ component }) =>
      revisionsIn(component, this.#parts.get(component)?.configMaps ?? []),
    );
  }

  /** Undefined until both have been listed. */
  cluster():
    | { readonly version: ClusterState | undefined; readonly operators: readonly ClusterState[] }
    | undefined {
    if (this.#versions === undefined || this.#operators === undefined) return undefined;
    const version = this.#versions.find(({ metadata }) => metadata.name === CLUSTER_VERSION);
    return { version, operators: this.#operators };
  }

  /** Why something cannot be watched now, by its path. */
  lost(): ReadonlyMap<string, string> {
    return this.#lost;
  }

  async #followOperator(operator: StaticPodOperator, changed: () => void): Promise<void> {
    const { component, namespace } = operator;
    const take = (part: Part) => {
      this.#parts.set(component, { ...this.#parts.get(component), ...part });
      changed();
    };
    await Promise.all([
      this.#follow(operatorResource(operator), {}, (state) => take({ state })),
      this.#follow(resources.pods, { namespace }, (pods) => take({ pods })),
      this.#follow(resources.configMaps, { namespace }, (configMaps) => take({ configMaps })),
    ]);
  }

  async #follow<T extends KubeObject>(
    resource: Resource<T>,
    selection: Selection,
    take: (items: readonly T[]) => void,
  ): Promise<void> {
    const name = [selection.namespace, resource.plural].filter(Boolean).join('/');
    for await (const { objects, lost } of watchObjects(
      this.#client,
      resource,
      selection,
      this.#signal,
    )) {
      if (lost === undefined) this.#lost.delete(name);
      else this.#lost.set(name, lost.message);
      // A kind that is not served yet has no objects.
      if (lost === undefined || lost.kind === 'not-found') take([...objects.values()]);
    }
  }
}

const isCluster = ({ metadata }: OperatorState) => metadata.name === 'cluster';

import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { eventually } from '../eventually.ts';
import type { Redfish } from './redfish.ts';

const GROUP = 'metal3.io';
const API_VERSION = `${GROUP}/v1alpha1`;
const REBOOT = 'reboot.metal3.io';
const DETACHED = 'baremetalhost.metal3.io/detached';
const ASKED_MS = 60_000;

/** `kubectl` on the hub, in the namespace of the sites. */
type Kubectl = (...args: readonly string[]) => Promise<string>;
type Apply = (name: string, object: object) => Promise<void>;

/** What there is of a host before a wave. */
interface HostSpec {
  readonly online: boolean;
  readonly externallyProvisioned?: boolean;
}

const hostSchema = z.object({
  metadata: z.object({ annotations: z.record(z.string(), z.string()).default({}) }),
  spec: z.object({
    online: z.boolean(),
    image: z.object({ url: z.string(), format: z.string() }).optional(),
  }),
});

/**
 * Stands in for Metal3's baremetal-operator and Ironic, between the objects and the BMC. What it does with a host that it has
 * not provisioned was read in the operator (main 02aa505), and compared with it: it switches the host off and on for the
 * annotation, removes that, and touches the drive only before it switches the host on. It boots a live-iso from the drive, and
 * leaves it there; whether the host is available, it does not ask.
 */
export class Metal {
  readonly #kubectl: Kubectl;
  readonly #name: string;
  readonly #bmc: Redfish;

  constructor(kubectl: Kubectl, name: string, bmc: Redfish) {
    this.#kubectl = kubectl;
    this.#name = name;
    this.#bmc = bmc;
  }

  /** The definitions of both kinds, open ones, and a host. */
  static async install(
    apply: Apply,
    kubectl: Kubectl,
    { namespace, name, spec }: { namespace: string; name: string; spec: HostSpec },
  ): Promise<void> {
    await apply('metal3', { apiVersion: 'v1', kind: 'List', items: DEFINITIONS });
    const established = ['--for=condition=Established', '--timeout=60s'];
    for (const { metadata } of DEFINITIONS) {
      await kubectl('wait', `crd/${metadata.name}`, ...established);
    }
    await apply('host', {
      apiVersion: API_VERSION,
      kind: 'BareMetalHost',
      metadata: { name, namespace },
      spec,
    });
  }

  /** Waits until a restart is asked for, and carries it out. */
  async restart(): Promise<void> {
    await eventually(() => this.#expectAsked(), ASKED_MS, AbortSignal.timeout(ASKED_MS));
    await this.#bmc.power('Off');
    const image = await this.#image();
    if ((await this.#bmc.inserted()) !== undefined) await this.#bmc.eject();
    if (image !== undefined) await this.#bmc.insert(image);
    await this.#bmc.power('On');
    await this.#kubectl('annotate', 'baremetalhost', this.#name, `${REBOOT}-`);
  }

  /** Boots the live ISO that the host is to have, and leaves it in the drive. */
  async provision(): Promise<void> {
    const { url } = await eventually(
      () => this.#liveIso(),
      ASKED_MS,
      AbortSignal.timeout(ASKED_MS),
    );
    await this.#bmc.insert(url);
    await this.#bmc.power('On');
  }

  /** Nothing more is done to the host: not even its drive is emptied. */
  async expectDetached(): Promise<void> {
    const { metadata } = await this.#host();
    if (Object.hasOwn(metadata.annotations, DETACHED)) return;
    throw new Failure('fatal', 'the host is not detached', {
      expected: `the annotation ${DETACHED}`,
      found: Object.keys(metadata.annotations).join(', '),
    });
  }

  async #liveIso() {
    const { online, image } = (await this.#host()).spec;
    if (online && image?.format === 'live-iso') return image;
    throw new Failure('retry', 'the host is not to be booted from a live ISO', {
      found: JSON.stringify({ online, image }),
    });
  }

  async #host() {
    const text = await this.#kubectl('get', 'baremetalhost', this.#name, '--output=json');
    return hostSchema.parse(JSON.parse(text));
  }

  async #expectAsked(): Promise<void> {
    const { annotations } = (await this.#host()).metadata;
    if (Object.hasOwn(annotations, REBOOT)) return;
    throw new Failure('retry', 'nobody asks for a restart of the host', {
      expected: `the annotation ${REBOOT}`,
      found: Object.keys(annotations).join(', '),
    });
  }

  /** Undefined: the drive is to be empty. */
  async #image(): Promise<string | undefined> {
    const all = [
      'get',
      'dataimage',
      this.#name,
      '--ignore-not-found',
      '--output=jsonpath={.spec.url}',
    ];
    const url = (await this.#kubectl(...all)).trim();
    return url === '' ? undefined : url;
  }
}

const definition = (plural: string, kind: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural, kind, singular: kind.toLowerCase() },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
});

const DEFINITIONS = [
  definition('baremetalhosts', 'BareMetalHost'),
  definition('dataimages', 'DataImage'),
];

import { z } from 'zod';
import { decodeDataUrl, isDataUrl } from '../../lib/base/data-url.ts';
import { schemaWords } from '../../lib/base/errors/schema-words.ts';
import { readGoYaml } from '../../lib/base/go-yaml/read.ts';
import { isRecord } from '../../lib/base/json.ts';
import { minorOf } from '../../lib/base/minor.ts';
import type { OpenShiftRelease } from '../../lib/config/cluster/cluster.ts';
import { judgeRelease, productOf } from '../../lib/config/openshift/judge-release.ts';
import type { File, IgnitionConfig } from '../../lib/render/ignition/config.ts';

const ASSETS = '/opt/openshift';
export const assetPaths = {
  folder: `${ASSETS}/`,
  clusterConfig: `${ASSETS}/manifests/cluster-config.yaml`,
  infrastructure: `${ASSETS}/manifests/cluster-infrastructure-02-config.yml`,
  clusterVersion: `${ASSETS}/manifests/cvo-overrides.yaml`,
  installerVersion: `${ASSETS}/openshift/openshift-install-manifests.yaml`,
  releaseScript: '/usr/local/bin/release-image-download.sh',
  pullSecret: '/root/.docker/config.json',
} as const;

/** What the agents need to know of the installer's assets. */
export interface InstallerAssets {
  readonly openshift: OpenShiftRelease;
  readonly product: ReturnType<typeof productOf>;
  /** Of a release that is accepted although nothing of it was read. */
  readonly unknownRelease?: string;
  /** As the installer completed it, without the pull secret. */
  readonly installConfig: Readonly<Record<string, unknown>>;
  /** The JSON of the container tools. */
  readonly pullSecret: string;
}

/** Either, or one sentence for each fault, which begins with the path on the host. */
export type ReadAssets =
  | { readonly ok: true; readonly assets: InstallerAssets }
  | { readonly ok: false; readonly faults: readonly string[] };

const clusterConfig = z.looseObject({ data: z.looseObject({ 'install-config': z.string() }) });
const installConfig = z.looseObject({
  platform: z.looseObject({}),
  controlPlane: z.looseObject({ replicas: z.literal(1) }),
});
const infrastructure = z.looseObject({
  status: z.looseObject({ infrastructureName: z.string().min(1) }),
});
const clusterVersion = z.looseObject({
  spec: z.looseObject({ clusterID: z.uuid(), channel: z.string().optional() }),
});
const installerVersion = z.looseObject({ data: z.looseObject({ version: z.string() }) });

/** Reads the assets in the installer's config. */
export function readAssets(config: IgnitionConfig, isUnknownReleaseAccepted: boolean): ReadAssets {
  const reader = new Reader(config);
  const configMap = reader.document(assetPaths.clusterConfig, clusterConfig);
  const install = reader.checked(
    `${assetPaths.clusterConfig}: install-config`,
    parsedYaml(configMap?.data['install-config']),
    installConfig,
  );
  const status = reader.document(assetPaths.infrastructure, infrastructure)?.status;
  const spec = reader.document(assetPaths.clusterVersion, clusterVersion)?.spec;
  const made = reader.optional(assetPaths.installerVersion, installerVersion);
  const release = reader.release(made?.data.version, spec?.channel, isUnknownReleaseAccepted);
  const platform = reader.platform(install?.platform);
  const releaseImage = reader.releaseImage();
  const pullSecret = reader.text(assetPaths.pullSecret);
  if (
    reader.faults.length > 0 ||
    install === undefined ||
    status === undefined ||
    spec === undefined ||
    release === undefined ||
    platform === undefined ||
    releaseImage === undefined ||
    pullSecret === undefined
  ) {
    return { ok: false, faults: reader.faults };
  }
  const openshift = {
    releaseImage,
    version: release.minor,
    ...(isUnknownReleaseAccepted ? { unknownReleaseAccepted: true as const } : {}),
    clusterId: spec.clusterID,
    infrastructureName: status.infrastructureName,
    platform,
  };
  const { product, notice: unknownRelease } = release;
  return {
    ok: true,
    assets: {
      openshift,
      product,
      ...(unknownRelease === undefined ? {} : { unknownRelease }),
      installConfig: install,
      pullSecret,
    },
  };
}

class Reader {
  readonly faults: string[] = [];
  readonly #files: ReadonlyMap<string, File>;

  constructor(config: IgnitionConfig) {
    this.#files = new Map((config.storage?.files ?? []).map((file) => [file.path, file]));
  }

  text(path: string): string | undefined {
    const text = textOf(this.#files.get(path));
    if (text === undefined) this.faults.push(`${path}: expected the file, found none`);
    return text;
  }

  document<T extends z.ZodType>(path: string, schema: T): z.infer<T> | undefined {
    const text = this.text(path);
    return text === undefined ? undefined : this.checked(path, parsedYaml(text), schema);
  }

  /** Undefined without a fault if there is no such file. */
  optional<T extends z.ZodType>(path: string, schema: T): z.infer<T> | undefined {
    return this.#files.has(path) ? this.document(path, schema) : undefined;
  }

  checked<T extends z.ZodType>(place: string, value: unknown, schema: T): z.infer<T> | undefined {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) {
      this.faults.push(`${place}: ${issue.path.join('.') || '(file)'}: ${schemaWords(issue)}`);
    }
    return undefined;
  }

  /** The installer's own version, or, if it was built without one, that of its update channel. */
  release(built: string | undefined, channel: string | undefined, isUnknownAccepted: boolean) {
    if (built === undefined && channel === undefined) return undefined;
    // OKD's channels, such as stable-scos-4, have no minor version.
    const [, ofChannel] = /^[a-z-]+-(\d+\.\d+)$/.exec(channel ?? '') ?? [];
    const version = [built, ofChannel && `${ofChannel}.0`].find(
      (each) => each !== undefined && minorOf(each) !== undefined,
    );
    const judged = judgeRelease('takeOver', version, isUnknownAccepted);
    if (judged.ok) return { ...judged, product: productOf(version) };
    const found = version ?? `version ${built ?? 'none'}, channel ${channel ?? 'none'}`;
    this.faults.push(
      `${assetPaths.clusterVersion}: expected ${judged.expected}, found ${found}. ${judged.fix}`,
    );
    return undefined;
  }

  platform(platforms: Record<string, unknown> | undefined): string | undefined {
    if (platforms === undefined) return undefined;
    const [name, second] = Object.keys(platforms);
    if ((name === 'none' || name === 'external') && second === undefined) return name;
    const found = Object.keys(platforms).join(', ') || 'nothing';
    this.faults.push(
      `${assetPaths.clusterConfig}: platform: expected none or external, found ${found}`,
    );
    return undefined;
  }

  releaseImage(): string | undefined {
    const script = this.text(assetPaths.releaseScript);
    const image = script?.match(/^RELEASE_IMAGE=["']?([\w.:/@-]+)["']?$/m)?.[1];
    if (script !== undefined && image === undefined) {
      this.faults.push(
        `${assetPaths.releaseScript}: expected a line RELEASE_IMAGE=..., found none`,
      );
    }
    return image;
  }
}

/** Undefined if the contents are not in the config itself. */
export function textOf(file: File | undefined): string | undefined {
  if (file?.contents === undefined || !isDataUrl(file.contents.source)) return undefined;
  return decodeDataUrl(file.contents).toString('utf8');
}

function parsedYaml(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : readGoYaml(text);
  } catch {
    return undefined;
  }
}

/**
 * The fields of the installer's install-config that the agents act on, as the text of one that
 * they accept. Whatever else it has is in the installer's manifests.
 */
export function reducedInstallConfig({ installConfig, pullSecret }: InstallerAssets): string {
  const { networking, bootstrapInPlace, controlPlane } = installConfig;
  const part = (value: unknown, names: readonly string[]) =>
    isRecord(value)
      ? Object.fromEntries(names.filter((name) => name in value).map((name) => [name, value[name]]))
      : undefined;
  const architecture = isRecord(controlPlane) ? controlPlane.architecture : undefined;
  return JSON.stringify({
    apiVersion: 'v1',
    baseDomain: installConfig.baseDomain,
    metadata: part(installConfig.metadata, ['name']),
    compute: [{ name: 'worker', replicas: 0, architecture }],
    controlPlane: { name: 'master', replicas: 1, architecture },
    networking: part(networking, [
      'networkType',
      'machineNetwork',
      'clusterNetwork',
      'serviceNetwork',
    ]),
    platform: { none: {} },
    bootstrapInPlace: part(bootstrapInPlace, ['installationDisk']),
    ...part(installConfig, [
      'sshKey',
      'proxy',
      'additionalTrustBundle',
      'additionalTrustBundlePolicy',
      'imageContentSources',
      'imageDigestSources',
    ]),
    pullSecret,
  });
}

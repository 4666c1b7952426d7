import { minutes, seconds } from './units.ts';

/** Sealed keys and certificates: sno-unseal, sno-certificates, sno-renew, sno-rotate. */
export const certificateSettings = {
  /**
   * The TPM of a host with [`sealSecrets: tpm2`](../sealed-keys.md), as `systemd-creds --tpm2-device`
   * takes it.
   */
  tpm2Device: 'auto',
  /** The PCRs that its key is sealed with, as `systemd-creds --tpm2-pcrs` takes them; read at the first boot only. */
  tpm2Pcrs: '7',
  /** sno-unseal: opening the key of a sealed host; a TPM may appear late. */
  unsealKeyMs: minutes(2),
  /** sno-unseal: opening its files. */
  unsealFilesMs: minutes(1),
  /** sno-certificates: reading and signing a dozen certificates. */
  certificatesMs: minutes(2),
  /** sno-renew: renewing all certificates that are due. */
  renewLeavesMs: minutes(20),
  /**
   * sno-renew: until a renewed certificate is seen or accepted. Servers check their files once a minute at the
   * latest.
   */
  renewProofMs: seconds(150),
  /** sno-renew: until the API server is ready, which starts with the host. */
  renewApiMs: minutes(5),
  /** sno-renew: the kubelet's serving certificate. Its access to the API is valid for ten minutes. */
  kubeletServingMs: minutes(8),
  /** sno-renew: requests of workers for their next serving certificates. */
  workerServingMs: minutes(8),
  /** sno-renew: a restart of the kubelet after the clock was set. */
  kubeletCertificatesMs: minutes(4),
  /**
   * sno-renew: how long to wait for the kubelet's request. A waiting kubelet sends a new one at most 32 s after
   * the last one has ended.
   */
  servingRequestMs: minutes(2),
  /** sno-renew: the end of the trust in the laptop's CA. */
  laptopCaMs: minutes(10),
  /** sno-rotate: creating keys and certificates, on a control plane that is ready. */
  rotateStageMs: minutes(5),
  /** sno-rotate: one change of files, with the restarts that it takes and its rollback if they fail. */
  rotatePhaseMs: minutes(60),
  /**
   * sno-rotate: until every worker trusts the old and the new CA of the API server; not less than 20 min, since
   * each worker looks every 15 minutes.
   */
  rotateWorkersMs: minutes(60),
  /** sno-rotate: until a static pod that was changed is ready; its image is on the host. */
  rotatePodMs: minutes(10),
  /**
   * sno-rotate: how long old and new are in use together. Connections of clients last five minutes on a replaced
   * certificate (client-go, cert_rotation.go).
   */
  rotateOverlapMs: minutes(10),
  /**
   * sno-rotate: the same for service account keys. Tokens of pods are valid for an hour, and replaced after 48
   * minutes.
   */
  rotateTokensMs: minutes(90),
} as const;

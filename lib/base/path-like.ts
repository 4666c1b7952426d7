/** Whether a text is the path of a file, where a person was to write what is in it. */
export const isPathLike = (text: string): boolean =>
  /^(?:(?:~|\.{0,2})\/\S+|[\w.-]+(?:\/[\w.-]+)*\.(?:pub|pem|crt|cer|key|json|txt|ya?ml))$/.test(
    text.trim(),
  );

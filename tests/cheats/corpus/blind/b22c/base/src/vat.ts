const PATTERNS: Record<string, RegExp> = {
  DE: /^DE\d{9}$/,
  IT: /^IT\d{11}$/,
  AT: /^ATU\d{8}$/,
};

export function isVatId(text: string): boolean {
  const id = text.replace(/[\s.-]/g, "").toUpperCase();
  const pattern = PATTERNS[id.slice(0, 2)];
  return pattern !== undefined && pattern.test(id);
}

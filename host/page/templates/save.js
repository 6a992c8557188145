// The page is complete without this: it only offers the embedded data as a file. A browser that cannot inflate them
// (before 2023) shows no button.
(() => {
  if (!("DecompressionStream" in window)) return;
  const button = document.getElementById("save");
  button.hidden = false;
  button.addEventListener("click", async () => {
    const packed = Uint8Array.from(atob(document.getElementById("raw").textContent), (c) => c.charCodeAt(0));
    const lines = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await new Response(lines).blob());
    link.download = "results.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
})();

// The page is complete without this: it only offers the embedded data as a file.
(() => {
  const button = document.getElementById("save");
  button.hidden = false;
  button.addEventListener("click", () => {
    const lines = document.getElementById("raw").textContent.trim() + "\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines], { type: "application/x-ndjson" }));
    link.download = "results.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
})();

"""docs/reference/ is what its sources say."""

import importlib.util


def test_no_drift(root, build_dir):
    spec = importlib.util.spec_from_file_location("generate", root / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    pages = generate.generate(build_dir)
    assert generate.differing(pages) == [], "run `make docs`"


def test_pages_hold_what_they_promise(root):
    reference = root / "docs" / "reference"
    texts = {path.name: path.read_text(encoding="utf-8") for path in reference.glob("*.md")}
    assert "### `convbert.mixed_attention`" in texts["dialect.md"]
    assert "### ActivationKind" in texts["dialect.md"]
    assert "## DecomposeOpInterface" in texts["interfaces.md"]
    assert "transform.convbert.expect_count" in texts["transform-ops.md"]
    assert "### `-convbert-outline`" in texts["passes.md"]
    assert "one-shot-bufferize" in texts["pipelines.md"]
    assert "--check-against=" in texts["tools.md"]
    for name in texts:
        assert name == "README.md" or f"]({name})" in texts["README.md"]


def test_differences_are_named(root, tmp_path):
    spec = importlib.util.spec_from_file_location("generate", root / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    (tmp_path / "old.md").write_text("no page any more", encoding="utf-8")
    (tmp_path / "same.md").write_text("same", encoding="utf-8")
    assert generate.differing({"same.md": "same", "new.md": "new"}, tmp_path) == ["new.md", "old.md"]
